/** A failed field, by its path in the body. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** The wait before the next try if the service does not say how long. */
const defaultWaitSeconds = 3;

/** A failed request, or one without an answer (`status` 0). */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** The page that explains the code. */
  readonly docUrl: string | undefined;
  /** When the same request may succeed, in ms since 1970. Known for 429 and 503. */
  readonly againAt: number | undefined;
  readonly fields: readonly FieldProblem[];
  /** The ticket with which a sign-in continues if a second factor is required. */
  readonly ticket: string | undefined;

  constructor(status: number, body: Readonly<Record<string, unknown>>, retryAfter?: number) {
    super(typeof body.message === 'string' ? body.message : '');
    this.status = status;
    this.code = typeof body.code === 'string' ? body.code : '';
    this.requestId = typeof body.requestId === 'string' ? body.requestId : undefined;
    this.docUrl = typeof body.docUrl === 'string' ? body.docUrl : undefined;
    const passes = status === 429 || status === 503;
    this.againAt = passes ? Date.now() + (retryAfter ?? defaultWaitSeconds) * 1000 : undefined;
    this.ticket = typeof body.ticket === 'string' ? body.ticket : undefined;
    this.fields = Array.isArray(body.errors) ? (body.errors as FieldProblem[]) : [];
  }
}

export const problemOf = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem(0, { message: error instanceof Error ? error.message : String(error) });
