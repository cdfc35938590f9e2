/** The error of one field. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
  /** The index of the item, if a list was sent. */
  readonly index?: number;
}

/** The error body of the service. */
export interface Refusal {
  readonly status?: number;
  readonly code: string;
  readonly message: string;
  readonly requestId?: string;
  readonly errors?: readonly FieldError[];
  readonly ticket?: string;
  readonly data?: unknown;
}

/** The only error that this client throws: for an error response, or a request without a response (`status` 0). */
export class BasaltError extends Error {
  override readonly name = 'BasaltError';
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** For programs: `DOCUMENT_NOT_FOUND`. `NO_ANSWER` without a response, `ABORTED` if your signal ended it. */
  readonly code: string;
  /** Identifies the request in the service's log. */
  readonly requestId: string;
  /** The errors of single fields. */
  readonly errors: readonly FieldError[];
  /** With `SECOND_FACTOR_REQUIRED`: the ticket for `auth.secondFactorVerify`. */
  readonly ticket: string | undefined;
  /** With status 412: the document, if you may read it. */
  readonly data: unknown;

  constructor({ status = 0, code, message, requestId = '', errors = [], ticket, data }: Refusal, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.errors = errors;
    this.ticket = ticket;
    this.data = data;
  }
}
