/** Every code of an error response, and its status. `npm run docs` makes docs/reference/errors.md of these lines. */
export const statusOf = {
  INVALID_JSON: 400, // The body is not valid JSON, or not UTF-8. The message names the character.
  INVALID_BODY: 400, // The body is missing, or is not the object or array that the route needs. Send the form that the route's reference shows.
  NUMBER_NOT_EXACT: 400, // An integer is beyond ±(2^53−1). Send it as a string.
  INVALID_ID: 400, // The id is not 24 hexadecimal characters. Use the `_id` of a document.
  INVALID_NAME: 400, // The collection name is not valid. The message says which names are valid.
  VALIDATION_FAILED: 400, // One or more fields are not valid. `errors` lists each field.
  INVALID_SCHEMA: 400, // The schema of a collection is not valid. `errors` names the path.
  INVALID_RLS: 400, // A rule of row-level security is not valid. `errors` names its path.
  INVALID_EFFECT: 400, // An effect of a collection is not valid. `errors` names its path.
  INVALID_INDEX: 400, // The index is not valid, or the collection has 20 indexes already.
  INVALID_UPDATE: 400, // The update has a path, a value or an operator that cannot be used.
  NOTHING_TO_UPDATE: 400, // The body changes nothing. Name at least one field.
  INVALID_QUERY: 400, // A query parameter is not valid, or two of them exclude each other.
  INVALID_FILTER: 400, // A filter or `where` is not valid. `errors` names the condition.
  INVALID_REGEX: 400, // A pattern is not valid, is too long, or could take too long. Write a shorter or simpler one.
  SEARCH_NOT_ENABLED: 400, // No field of the collection is searchable. Set `searchable` in its schema.
  INVALID_CURSOR: 400, // The cursor is not from this list. Start again without one.
  INVALID_POSITION: 400, // `since` is not from this changes feed. List the documents again.
  INVALID_PIPELINE: 400, // The aggregation pipeline is not valid. Correct the stage that the message names.
  BLOCKED_STAGE: 400, // The pipeline contains a stage or an operator that is not allowed. Remove what the message names.
  QUERY_TIMEOUT: 400, // The query took too long. Filter more, or add an index.
  RESULT_TOO_LARGE: 400, // The response would be too large. Ask for fewer documents or fields.
  TOO_MANY_WRITES: 400, // The request would write more than 1000 documents. Send fewer writes at a time.
  INVALID_EMAIL_TOKEN: 400, // The link or code of the email is wrong, used or expired. Request another.
  INVALID_CODE: 400, // The sign-in code is wrong, used or expired. Request another.
  INVALID_PASSKEY: 400, // The passkey could not be verified in 5 minutes, or is registered already. Begin again.
  INVALID_EXCHANGE_CODE: 400, // The `rtCode` of a social sign-in is wrong, used or expired. Sign in again.
  SOCIAL_SIGN_IN_FAILED: 400, // The sign-in with an identity provider failed. Start it again.
  SITE_URL_REQUIRED: 400, // The project has no usable `siteUrl`. Set it in its settings.
  DATABASE_URI_RESTRICTED: 400, // The database URI leads to a private network, or has an unsupported form. Use a public host and a standard connection string.
  DATABASE_ACCESS_DENIED: 400, // Your database does not let Basalt in. Permit the addresses that the message lists.
  DATABASE_NOT_CONNECTED: 400, // Your database could not be reached, or rejected the credentials. Check the URI, the user and the cluster.
  DATABASE_NOT_VERIFIED: 400, // The check of your database could not be completed. Retry later.
  INVALID_MAIL: 400, // The email, template, audience or broadcast is not valid. Correct the field that the message names.
  INVALID_SIGNATURE: 400, // The signature of a provider event does not match, or is older than 5 minutes. Check the secret and the clock.
  MAIL_PROVIDER_BAD_REQUEST: 400, // The mail provider rejected the request. The message is its own.
  SIZE_MISMATCH: 400, // The file does not have the size that was announced. Upload the file again with its real `size`.
  CONTENT_TYPE_MISMATCH: 400, // The content of the file is not of the type that was announced. Request the upload again with the right `contentType`.
  INVALID_SIZE: 400, // The image size or format is not one of those that are offered. Use one that the message names.
  INVALID_STORAGE: 400, // The bucket settings are not valid, or the bucket failed the check. Correct the setting that the message names.
  INVALID_WEBHOOK: 400, // The webhook is not valid. `errors` names the field.
  API_KEY_MISSING: 401, // The header `x-api-key` is missing. Send the project's key in it.
  API_KEY_INVALID: 401, // The API key is unknown, was rotated or was revoked. Copy the key from the project's settings.
  TOKEN_MISSING: 401, // The header `Authorization: Bearer …` is missing. Sign in, and send the access token.
  TOKEN_INVALID: 401, // The token is wrong, has expired or was revoked. Sign in again.
  REFRESH_TOKEN_MISSING: 401, // No refresh token was sent. Send the cookie with `credentials: 'include'`, or `x-refresh-token`.
  REFRESH_TOKEN_INVALID: 401, // The refresh token is wrong, used or expired. Sign in again.
  INVALID_CREDENTIALS: 401, // The email address, password or passkey is wrong.
  SECOND_FACTOR_REQUIRED: 401, // The account has a second factor. Continue with `ticket` and a code.
  INVALID_SECOND_FACTOR: 401, // The code is wrong or used, or the ticket has expired. Enter the current code, or sign in again.
  MAIL_PROVIDER_UNAUTHORIZED: 401, // The mail provider rejected its key. Replace `providerApiKey`.
  SECRET_KEY_REQUIRED: 403, // The route needs the secret key. Call it from your server.
  PUBLISHABLE_KEY_REQUIRED: 403, // The route needs the publishable key.
  ORIGIN_NOT_ALLOWED: 403, // The page is not on a domain that the project allows. Add the domain to `allowedDomains`.
  USERS_RESERVED: 403, // The collection `users` is only available under `/api/userAuth`.
  RLS_REQUIRED: 403, // The publishable key cannot write to a collection without row security. From a server, send the secret key. From an app, turn row security on, sign a user in, and send their token.
  RULE_DENIED: 403, // A rule of the collection does not allow the write. The message names the rule.
  DIRECTORY_OFF: 403, // Users of this project cannot find each other. Set `directory` in the project's settings.
  RULE_LIMIT: 403, // A rule would have to look at more than 10,000 values. Use a narrower rule.
  FIELD_PROTECTED: 403, // The caller may not set the field. `errors` names it.
  NOT_OWNER: 403, // The document belongs to another user. Only the owner may do this.
  MFA_REQUIRED: 403, // The collection needs a sign-in with a second factor. Sign in with one.
  OWNER_IMMUTABLE: 403, // The owner of a document cannot change. Leave the owner field out.
  DATABASE_QUOTA_EXCEEDED: 403, // The database of the project has reached its plan's size. Delete documents, or ask the operator for another plan.
  STORAGE_QUOTA_EXCEEDED: 403, // The files of the project have reached their plan's size. Delete files, or ask the operator for another plan.
  USER_QUOTA_EXCEEDED: 403, // The user has reached what one user may have. Confirm uploads or delete files.
  PLAN_LIMIT: 403, // The plan allows no more of these. Delete one, or ask the operator for another plan.
  AUTH_DISABLED: 403, // User accounts are off, or the collection `users` is missing. Turn accounts on in the project's settings.
  SIGN_IN_DISABLED: 403, // This sign-in method is off in the project. Use another one, or turn it on in the settings.
  REAUTHENTICATION_REQUIRED: 403, // The sign-in is older than 10 minutes. Sign in again first.
  SIGNUP_DISABLED: 403, // Sign-up is closed. Ask the developer of the app for an account.
  ROLE_REQUIRED: 403, // Your role in the project does not permit this. Ask an admin or the owner.
  SCOPE_REQUIRED: 403, // The personal access token has no scope for this. Create a token with the scope that the message names.
  LIMIT_REACHED: 403, // A fixed limit is reached. The message names it. Delete what you no longer need.
  EMAIL_NOT_VERIFIED: 403, // Verify the email address first.
  OWN_MAIL_KEY_REQUIRED: 403, // The project needs its own mail provider key (`providerApiKey`).
  PRO_PLAN_REQUIRED: 403, // Only the plan `pro` includes this.
  MAIL_PROVIDER_FORBIDDEN: 403, // The mail provider does not permit this, for example an unverified domain.
  NOT_FOUND: 404, // There is no such route. Check the method and the path.
  PROJECT_NOT_FOUND: 404, // The project does not exist, or you are not a member.
  COLLECTION_NOT_FOUND: 404, // The collection does not exist. Names are case-sensitive.
  DOCUMENT_NOT_FOUND: 404, // The document does not exist, is in the trash, or is hidden from the caller.
  INDEX_NOT_FOUND: 404, // The index does not exist.
  TRANSFER_NOT_FOUND: 404, // The export or import does not exist, or its record has expired.
  USER_NOT_FOUND: 404, // The user does not exist.
  SESSION_NOT_FOUND: 404, // The session does not exist, or has ended.
  SECOND_FACTOR_NOT_FOUND: 404, // The account has no authenticator app.
  PROVIDER_NOT_LINKED: 404, // The identity provider is not linked to the account.
  PASSKEY_NOT_FOUND: 404, // The passkey does not exist.
  MEMBER_NOT_FOUND: 404, // The developer is not a member of the project.
  INVITATION_NOT_FOUND: 404, // The invitation was used, withdrawn, has expired, or is for another address.
  TOKEN_NOT_FOUND: 404, // The personal access token does not exist.
  TEMPLATE_NOT_FOUND: 404, // The mail template does not exist.
  MAIL_LOG_NOT_FOUND: 404, // The project has no mail with this id.
  FILE_NOT_FOUND: 404, // The file does not exist, or is hidden from the caller.
  UNKNOWN_PROVIDER: 404, // The identity provider is unknown, or not set up.
  SUPPRESSION_NOT_FOUND: 404, // The address is not suppressed.
  WEBHOOK_NOT_FOUND: 404, // The webhook does not exist.
  DELIVERY_NOT_FOUND: 404, // The delivery does not exist, or its record has expired.
  MAIL_PROVIDER_NOT_FOUND: 404, // The mail provider has no audience, contact or broadcast with this id.
  COLLECTION_EXISTS: 409, // The project has a collection of this name. Choose another name.
  DEVELOPER_EXISTS: 409, // A developer has this email address. Sign in, or reset the password.
  MEMBER_EXISTS: 409, // The developer is a member of the project.
  OWNER_STAYS: 409, // The owner cannot leave the project. Delete the project instead.
  USER_EXISTS: 409, // A user has this email address. Sign in, or reset the password.
  NOT_ANONYMOUS: 409, // The account is not anonymous.
  SECOND_FACTOR_EXISTS: 409, // The account has an authenticator app. Remove it first.
  LAST_WAY_TO_SIGN_IN: 409, // It is the account's last sign-in method. Add another one first.
  DUPLICATE_VALUE: 409, // Another document has this value in a unique field. Choose another value.
  EFFECT_REFUSED: 409, // An effect of the collection could not compute a value, or a write of it was rejected. `errors` names the effect or path.
  STILL_REFERENCED: 409, // Active documents refer to this one, or to one that would be deleted with it. `errors` names their collections.
  BATCH_PARTLY_DONE: 409, // A write was rejected, and not all earlier ones could be undone. `errors` lists the rejected one first, then those that stayed.
  SCHEMA_CONFLICT: 409, // Stored documents or indexes do not fit. `errors` gives examples.
  INDEX_EXISTS: 409, // The collection has an index of this name. Choose another name.
  UPLOAD_NOT_READY: 409, // The file is not uploaded yet. PUT it to the signed URL first.
  HOSTED_FILES_ONLY: 409, // Image sizes need hosted files. This project has its own bucket.
  TRANSFER_RUNNING: 409, // An export or import of the collection is running. Wait until it has ended.
  TRANSFER_ENDED: 409, // The export or import has ended already.
  TEMPLATE_EXISTS: 409, // The project has a mail template of this name or key. Choose another name.
  MAIL_PROVIDER_CONFLICT: 409, // The mail provider reports a conflict. The message is its own.
  CHANGES_NOT_ENABLED: 409, // The collection has no changes feed. Set `changes`.
  IDEMPOTENCY_KEY_REUSED: 409, // The `Idempotency-Key` belongs to another request. Use a new key.
  IDEMPOTENCY_IN_PROGRESS: 409, // The first request with this `Idempotency-Key` is running. Retry with the same key.
  IDEMPOTENCY_OUTCOME_UNKNOWN: 409, // The first request may have been carried out. Check, then use a new key.
  POSITION_GONE: 410, // Changes are kept for 30 days, and `since` is older. List the documents again.
  REVISION_MISMATCH: 412, // The document has another revision. `ETag` names it, `data` is the document. Read the document again, then decide.
  CONDITION_FAILED: 412, // The document does not fulfil `where`. `data` is the document.
  DOCUMENT_EXISTS: 412, // The id is taken. `data` is the document if the caller may get it.
  BODY_TOO_LARGE: 413, // The body is larger than the route allows, usually 1 MiB. Send less at a time.
  DOCUMENT_TOO_LARGE: 413, // The document is larger than 4 MiB, or than 5 MiB as JSON. Split it, or keep large data in files.
  FILE_TOO_LARGE: 413, // The file is larger than allowed: 10 MiB hosted, or the limit for users.
  IMAGE_TOO_LARGE: 413, // The image has too many pixels to resize. Upload a smaller one.
  ENCODING_NOT_SUPPORTED: 415, // The body has a `Content-Encoding`, for example gzip. Send it uncompressed.
  NOT_AN_IMAGE: 415, // The file is not an image that can be resized.
  MAIL_PROVIDER_UNPROCESSABLE: 422, // The mail provider cannot process the content. The message is its own.
  RATE_LIMITED: 429, // Too many requests. Retry after `Retry-After` seconds.
  TOO_MANY_AGGREGATIONS: 429, // Another long read of the project did not end in time. Retry later, or add an index.
  TOO_MANY_SLOW_QUERIES: 429, // Another long read of the project did not end in time. Retry later, or add an index.
  ACCOUNT_LOCKED: 429, // Too many failed sign-ins. Retry after `Retry-After` seconds.
  MAIL_QUOTA_EXCEEDED: 429, // The mail quota is used up. `Retry-After` says when it begins again.
  ASSISTANT_QUOTA_EXCEEDED: 429, // The quota of the schema assistant is used up. It begins again next month.
  MAIL_PROVIDER_RATE_LIMITED: 429, // The mail provider limits requests. Retry after `Retry-After` seconds.
  INTERNAL_ERROR: 500, // The service failed. Retry; report `x-request-id` if it stays.
  NOT_SET_UP: 501, // The operator has not set up this feature. Ask the operator.
  MAIL_PROVIDER_FAILED: 502, // The mail provider failed. Retry.
  ASSISTANT_FAILED: 502, // The schema assistant found no usable schema. Describe the data differently.
  DATABASE_UNAVAILABLE: 503, // The database of the service is unavailable. Retry.
  OWN_DATABASE_UNAVAILABLE: 503, // The project's own database is unavailable. Retry, or ask its operator.
  STORAGE_UNAVAILABLE: 503, // The project's own bucket is unavailable, or rejects its keys. Check the bucket and its keys, then retry.
  SERVICE_UNAVAILABLE: 503, // The service is busy or took too long. Retry.
  TOO_MANY_WRITERS: 503, // Others were changing the same item at the same time. Retry.
  ASSISTANT_UNAVAILABLE: 503, // The language model does not respond. Retry.
  MAIL_PROVIDER_UNAVAILABLE: 503, // The mail provider does not respond. Retry.
  EVENT_TOO_EARLY: 503, // The event came before its mail was logged. The provider sends it again.
} as const;

export type ErrorCode = keyof typeof statusOf;

/** Server errors that callers, customers' systems or providers cause. They raise no alarm. */
export const notOurs: readonly ErrorCode[] = [
  'NOT_SET_UP',
  'OWN_DATABASE_UNAVAILABLE',
  'STORAGE_UNAVAILABLE',
  'MAIL_PROVIDER_FAILED',
  'MAIL_PROVIDER_UNAVAILABLE',
  'ASSISTANT_FAILED',
  'ASSISTANT_UNAVAILABLE',
  'TOO_MANY_WRITERS',
  'EVENT_TOO_EARLY',
];

/** `index` is the item's position in an array body. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
  readonly index?: number;
  readonly count?: number;
  /** Set if the field is in another collection. */
  readonly collection?: string;
  readonly examples?: readonly string[];
}

/** One of the `errors` of a response; not all of them are about a field. */
export interface ErrorDetail extends Partial<FieldError> {
  /** The number of an effect of the collection, and of its write. */
  readonly effect?: number;
  readonly write?: number;
}

/** A response lists at most this many errors, so that it stays small. */
export const maxErrors = 100;

interface AppErrorOptions {
  /** For the log only. */
  readonly cause?: unknown;
  readonly errors?: readonly ErrorDetail[];
  /** `errors` in full for the log of rejected requests, if the caller may not see all of them. */
  readonly logged?: readonly ErrorDetail[] | undefined;
  /** In seconds, sent as `Retry-After`. 429 and 503 have 5 by default. */
  readonly retryAfter?: number;
  /** The document's current revision, sent as `ETag`. */
  readonly etag?: string;
  /** Sent in the body: continues a sign-in. */
  readonly ticket?: string;
  /** Sent in the body: the conflicting document. */
  readonly data?: unknown;
}

/** Temporary errors tell the caller when to retry (contract 1, "Headers"). */
const passes = (code: ErrorCode): boolean => statusOf[code] === 429 || statusOf[code] === 503;
const usualRetryAfter = 5;

/** An error for the caller. `message` says what was wrong and what to do; `code` determines the status. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly errors: readonly ErrorDetail[] | undefined;
  readonly logged: readonly ErrorDetail[] | undefined;
  readonly retryAfter: number | undefined;
  readonly etag: string | undefined;
  readonly ticket: string | undefined;
  readonly data: unknown;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.errors = options.errors;
    this.logged = options.logged;
    this.etag = options.etag;
    this.ticket = options.ticket;
    this.data = options.data;
    this.retryAfter = options.retryAfter ?? (passes(code) ? usualRetryAfter : undefined);
  }
}

/** 400: the message has the first error, `errors` all of them. */
export const validationFailed = (...errors: readonly FieldError[]): AppError =>
  new AppError('VALIDATION_FAILED', `Validation failed: ${errors[0]?.message}`, { errors });

export const isClientError = (error: unknown): error is AppError =>
  error instanceof AppError && statusOf[error.code] < 500;

/** True for faults of the service, which raise alarms. */
export const isOurs = (error: unknown): boolean =>
  !(error instanceof AppError) || (statusOf[error.code] >= 500 && !notOurs.includes(error.code));
