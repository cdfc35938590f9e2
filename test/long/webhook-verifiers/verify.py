"""Verifies deliveries as the published library does: verify.py FILE, a list of {secret, headers, text} as JSON."""

import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def said(delivery: dict) -> str:
    try:
        return Webhook(delivery["secret"]).verify(delivery["text"], delivery["headers"])["type"]
    except WebhookVerificationError:
        return "refused"


with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps([said(delivery) for delivery in json.load(file)]))
