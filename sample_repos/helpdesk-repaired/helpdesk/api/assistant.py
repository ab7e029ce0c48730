from arq import ArqRedis
from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel
from pydantic_ai import DeferredToolRequests, DeferredToolResults, ModelMessagesTypeAdapter

from helpdesk.assistant.agent import Request, assistant
from helpdesk.queue import get_queue

router = APIRouter(prefix="/assistant")
A_DAY = 24 * 3600


class Question(BaseModel):
    request_id: str
    email: str
    text: str


class Approval(BaseModel):
    request_id: str
    email: str
    call_id: str


@router.post("")
async def ask(question: Question, queue: ArqRedis = Depends(get_queue)):
    request = Request(request_id=question.request_id, email=question.email)
    answer = await assistant.run(question.text, deps=request)
    if isinstance(answer.output, DeferredToolRequests):
        await queue.set(f"talk:{question.request_id}", answer.all_messages_json(), ex=A_DAY)
        return {"waiting": [call.tool_call_id for call in answer.output.approvals]}
    return {"answer": answer.output}


@router.post("/approvals")
async def approve(approval: Approval, queue: ArqRedis = Depends(get_queue)):
    """Somebody of sales lets the assistant do what it proposed."""
    talk = await queue.get(f"talk:{approval.request_id}")
    if talk is None:
        raise HTTPException(404, "no such talk")
    answer = await assistant.run(
        message_history=ModelMessagesTypeAdapter.validate_json(talk),
        deferred_tool_results=DeferredToolResults(approvals={approval.call_id: True}),
        deps=Request(request_id=approval.request_id, email=approval.email),
    )
    return {"answer": str(answer.output)}
