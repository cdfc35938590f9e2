/** Every code the service answers with, and the status it always has. The error table of the contract. */
export const statusOf = {
  INVALID_JSON: 400,
  INVALID_BODY: 400,
  NUMBER_NOT_EXACT: 400,
  INVALID_ID: 400,
  INVALID_NAME: 400,
  VALIDATION_FAILED: 400,
  INVALID_SCHEMA: 400,
  INVALID_INDEX: 400,
  INVALID_UPDATE: 400,
  NOTHING_TO_UPDATE: 400,
  INVALID_QUERY: 400,
  INVALID_FILTER: 400,
  INVALID_REGEX: 400,
  SEARCH_NOT_ENABLED: 400,
  INVALID_CURSOR: 400,
  INVALID_POSITION: 400,
  INVALID_PIPELINE: 400,
  BLOCKED_STAGE: 400,
  QUERY_TIMEOUT: 400,
  RESULT_TOO_LARGE: 400,
  INVALID_EMAIL_TOKEN: 400,
  INVALID_CODE: 400,
  INVALID_PASSKEY: 400,
  INVALID_EXCHANGE_CODE: 400,
  SOCIAL_SIGN_IN_FAILED: 400,
  SITE_URL_REQUIRED: 400,
  DATABASE_URI_RESTRICTED: 400,
  DATABASE_ACCESS_DENIED: 400,
  DATABASE_NOT_CONNECTED: 400,
  DATABASE_NOT_VERIFIED: 400,
  INVALID_MAIL: 400,
  INVALID_SIGNATURE: 400,
  MAIL_PROVIDER_BAD_REQUEST: 400,
  SIZE_MISMATCH: 400,
  CONTENT_TYPE_MISMATCH: 400,
  INVALID_SIZE: 400,
  INVALID_STORAGE: 400,
  INVALID_WEBHOOK: 400,
  API_KEY_MISSING: 401,
  API_KEY_INVALID: 401,
  TOKEN_MISSING: 401,
  TOKEN_INVALID: 401,
  REFRESH_TOKEN_MISSING: 401,
  REFRESH_TOKEN_INVALID: 401,
  INVALID_CREDENTIALS: 401,
  SECOND_FACTOR_REQUIRED: 401,
  INVALID_SECOND_FACTOR: 401,
  MAIL_PROVIDER_UNAUTHORIZED: 401,
  SECRET_KEY_REQUIRED: 403,
  PUBLISHABLE_KEY_REQUIRED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  USERS_RESERVED: 403,
  RLS_REQUIRED: 403,
  NOT_OWNER: 403,
  MFA_REQUIRED: 403,
  OWNER_IMMUTABLE: 403,
  DATABASE_QUOTA_EXCEEDED: 403,
  STORAGE_QUOTA_EXCEEDED: 403,
  PLAN_LIMIT: 403,
  AUTH_DISABLED: 403,
  SIGN_IN_DISABLED: 403,
  REAUTHENTICATION_REQUIRED: 403,
  SIGNUP_DISABLED: 403,
  ROLE_REQUIRED: 403,
  SCOPE_REQUIRED: 403,
  LIMIT_REACHED: 403,
  EMAIL_NOT_VERIFIED: 403,
  OWN_MAIL_KEY_REQUIRED: 403,
  PRO_PLAN_REQUIRED: 403,
  MAIL_PROVIDER_FORBIDDEN: 403,
  NOT_FOUND: 404,
  PROJECT_NOT_FOUND: 404,
  COLLECTION_NOT_FOUND: 404,
  DOCUMENT_NOT_FOUND: 404,
  INDEX_NOT_FOUND: 404,
  TRANSFER_NOT_FOUND: 404,
  USER_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  SECOND_FACTOR_NOT_FOUND: 404,
  PROVIDER_NOT_LINKED: 404,
  PASSKEY_NOT_FOUND: 404,
  MEMBER_NOT_FOUND: 404,
  INVITATION_NOT_FOUND: 404,
  TOKEN_NOT_FOUND: 404,
  TEMPLATE_NOT_FOUND: 404,
  MAIL_LOG_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  UNKNOWN_PROVIDER: 404,
  SUPPRESSION_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  DELIVERY_NOT_FOUND: 404,
  MAIL_PROVIDER_NOT_FOUND: 404,
  COLLECTION_EXISTS: 409,
  DEVELOPER_EXISTS: 409,
  MEMBER_EXISTS: 409,
  OWNER_STAYS: 409,
  USER_EXISTS: 409,
  NOT_ANONYMOUS: 409,
  SECOND_FACTOR_EXISTS: 409,
  LAST_WAY_TO_SIGN_IN: 409,
  DUPLICATE_VALUE: 409,
  SCHEMA_CONFLICT: 409,
  INDEX_EXISTS: 409,
  UPLOAD_NOT_READY: 409,
  HOSTED_FILES_ONLY: 409,
  TRANSFER_RUNNING: 409,
  TRANSFER_ENDED: 409,
  TEMPLATE_EXISTS: 409,
  MAIL_PROVIDER_CONFLICT: 409,
  CHANGES_NOT_ENABLED: 409,
  IDEMPOTENCY_KEY_REUSED: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  IDEMPOTENCY_OUTCOME_UNKNOWN: 409,
  POSITION_GONE: 410,
  REVISION_MISMATCH: 412,
  BODY_TOO_LARGE: 413,
  DOCUMENT_TOO_LARGE: 413,
  FILE_TOO_LARGE: 413,
  IMAGE_TOO_LARGE: 413,
  NOT_AN_IMAGE: 415,
  MAIL_PROVIDER_UNPROCESSABLE: 422,
  RATE_LIMITED: 429,
  TOO_MANY_AGGREGATIONS: 429,
  ACCOUNT_LOCKED: 429,
  MAIL_QUOTA_EXCEEDED: 429,
  ASSISTANT_QUOTA_EXCEEDED: 429,
  MAIL_PROVIDER_RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  NOT_SET_UP: 501,
  MAIL_PROVIDER_FAILED: 502,
  ASSISTANT_FAILED: 502,
  DATABASE_UNAVAILABLE: 503,
  OWN_DATABASE_UNAVAILABLE: 503,
  STORAGE_UNAVAILABLE: 503,
  SERVICE_UNAVAILABLE: 503,
  TOO_MANY_WRITERS: 503,
  ASSISTANT_UNAVAILABLE: 503,
  MAIL_PROVIDER_UNAVAILABLE: 503,
  EVENT_TOO_EARLY: 503,
} as const;

export type ErrorCode = keyof typeof statusOf;

/**
 * Failures in which the service itself has no part, and which a caller can bring about: of what a project owns, of what
 * this deployment has not, of the provider or the language model, of callers who hinder each other. Alarms leave them
 * out.
 */
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

/** One failed field of a validation; `index` names the item of an array body. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
  readonly index?: number;
  readonly count?: number;
  readonly examples?: readonly string[];
}

/** An answer names at most this many failures, so that it stays small whatever was sent. */
export const maxErrors = 100;

interface AppErrorOptions {
  /** What really happened; goes to the log, never to the caller. */
  readonly cause?: unknown;
  readonly errors?: readonly FieldError[];
  /** Whole seconds, sent as `Retry-After`; every 429 and 503 has some, 5 where none are given. */
  readonly retryAfter?: number;
  /** Sent as `ETag`: what the document is at now. */
  readonly etag?: string;
  /** Sent beside `code`: what a sign-in is gone on with. */
  readonly ticket?: string;
}

/** Errors that are temporary: the caller is always told when to retry (contract 1, "Headers"). */
const passes = (code: ErrorCode): boolean => statusOf[code] === 429 || statusOf[code] === 503;
const usualRetryAfter = 5;

/** A failure meant for the caller: `message` says what was wrong and what to do, `code` fixes the status. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly errors: readonly FieldError[] | undefined;
  readonly retryAfter: number | undefined;
  readonly etag: string | undefined;
  readonly ticket: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.errors = options.errors;
    this.etag = options.etag;
    this.ticket = options.ticket;
    this.retryAfter = options.retryAfter ?? (passes(code) ? usualRetryAfter : undefined);
  }
}

/** The refusal of fields that are not valid (400): the first failure in the message, all in `errors`. */
export const validationFailed = (...errors: readonly FieldError[]): AppError =>
  new AppError('VALIDATION_FAILED', `Validation failed: ${errors[0]?.message}`, { errors });

/** Whether something that was thrown is the refusal of a request (4xx). */
export const isClientError = (error: unknown): error is AppError =>
  error instanceof AppError && statusOf[error.code] < 500;

/** Whether something that was thrown is a failure of the service: neither a refusal nor one of `notOurs`. */
export const isOurs = (error: unknown): boolean =>
  !(error instanceof AppError) || (statusOf[error.code] >= 500 && !notOurs.includes(error.code));
