import type { Linked } from './linked-project.ts';
import { type RejectedRequest, rejectedPages } from './rejected-requests.ts';
import { CommandError } from './terminal.ts';

const rules = 'The tool schema shows rls of the collection, and read and write of its fields.';

/** What to change, by error code. */
const fixes: Readonly<Record<string, string>> = {
  COLLECTION_NOT_FOUND: 'Check the name of the collection with the tool schema.',
  DOCUMENT_NOT_FOUND: `The document does not exist, is in the trash, or this caller may not read it. ${rules}`,
  DUPLICATE_VALUE: 'Another document has this value. Update that one, or send onConflict.',
  EFFECT_REFUSED:
    'An effect of the collection stopped the write. The tool schema shows effects; the entry names the effect.',
  FIELD_PROTECTED: `Users may not set this field. Leave it out, set it with the secret key, or change its write right. ${rules}`,
  MFA_REQUIRED: 'The collection needs a sign-in with a second factor: rls.requires is mfa.',
  NOT_OWNER: `The document belongs to another user. ${rules}`,
  ORIGIN_NOT_ALLOWED: 'Add the origin of the page to the setting allowedDomains.',
  RLS_REQUIRED:
    'A publishable key can write only with row security. From a server, send the secret key. From an app, turn row security on and send the access token of a signed-in user.',
  RULE_DENIED: `A rule of the collection denied it. Compare what the user sent with the rules. ${rules}`,
  SECRET_KEY_REQUIRED: 'Send this request from a server with the secret key.',
  TOKEN_INVALID: "The user's access token has expired or ended. Refresh it, or sign in again.",
  TOKEN_MISSING: 'Only signed-in users can do this. Send the access token of a user.',
  VALIDATION_FAILED: 'Change the fields that the entry names so that they fit the schema.',
};

/** Finds a rejected request in the project's log. Throws if it is not there. */
export const explainRefusal = async (
  linked: Linked,
  requestId: string,
): Promise<{ readonly request: RejectedRequest; readonly fix: string }> => {
  for await (const { items } of rejectedPages(linked, { requestId })) {
    const [request] = items;
    if (request) return { request, fix: fixes[request.code] ?? 'The message says what to change.' };
  }
  throw new CommandError(
    'The log has no rejected request with this id. An entry appears within 10 seconds; the newest 1000 of 7 days are kept.',
  );
};
