/** What was wrong with one field of what was sent. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
  /** Of the item, where a list was sent. */
  readonly index?: number;
}

/** What the service says of a refusal. */
export interface Refusal {
  readonly status?: number;
  readonly code: string;
  readonly message: string;
  readonly requestId?: string;
  readonly errors?: readonly FieldError[];
  readonly ticket?: string;
}

/** The one thing that this client throws: a refusal, or a request that no answer came to (`status` 0). */
export class BasaltError extends Error {
  override readonly name = 'BasaltError';
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /** For programs: `DOCUMENT_NOT_FOUND`; `NO_ANSWER` where there was none, `ABORTED` by a signal of yours. */
  readonly code: string;
  /** Finds the request in the log of the service. */
  readonly requestId: string;
  /** What was wrong field by field. */
  readonly errors: readonly FieldError[];
  /** With `SECOND_FACTOR_REQUIRED`: what `auth.secondFactorVerify` takes besides the code. */
  readonly ticket: string | undefined;

  constructor({ status = 0, code, message, requestId = '', errors = [], ticket }: Refusal, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.errors = errors;
    this.ticket = ticket;
  }
}
