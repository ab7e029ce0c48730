from pydantic import BaseModel


class Mail(BaseModel):
    account_id: str
    to: str
    variables: dict[str, str] = {}
