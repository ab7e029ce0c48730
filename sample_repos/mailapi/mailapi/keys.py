import hashlib


def fingerprint(mail):
    """Tells one payload from another."""
    return hashlib.sha256(mail.model_dump_json().encode()).hexdigest()
