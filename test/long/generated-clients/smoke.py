"""Uses the generated client of the public API: smoke.py BASE_URL SECRET_KEY PUBLISHABLE_KEY, beside its package `public_api`."""

import sys

from public_api import AuthenticatedClient
from public_api.api.documents import create_document, list_documents
from public_api.api.user_accounts import sign_up
from public_api.models import CreateDocumentBody, ListDocumentsCount, SignUpBody

_, base_url, secret_key, publishable_key = sys.argv


def keyed(key: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=base_url, token=key, prefix="", auth_header_name="x-api-key")


server, app = keyed(secret_key), keyed(publishable_key)

made = create_document.sync("notes", client=server, body=CreateDocumentBody.from_dict({"text": "from Python"}))
page = list_documents.sync("notes", client=server, limit=5)
assert [item.additional_properties["text"] for item in page.data.items] == ["from Python"], page
assert page.data.items[0].field_id == made.field_id, page
counted = list_documents.sync("notes", client=server, count=ListDocumentsCount.TRUE)
assert counted.data.count == 1, counted
refused = create_document.sync("notes", client=app, body=CreateDocumentBody.from_dict({}))
assert refused.code == "RLS_REQUIRED" and not refused.success, refused
signed_up = sign_up.sync(client=app, body=SignUpBody.from_dict({"email": "python@example.com", "password": "correct horse"}))
assert signed_up.access_token, signed_up
print("smoke ok")
