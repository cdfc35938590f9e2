/** A failure of one field, by its path in the body. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** An answer that is no success, or none at all (`status` 0). */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** Whole seconds that the service asks to wait. */
  readonly retryAfter: number | undefined;
  readonly fields: readonly FieldProblem[];

  constructor(status: number, body: Readonly<Record<string, unknown>>, retryAfter?: number) {
    super(typeof body.message === 'string' ? body.message : '');
    this.status = status;
    this.code = typeof body.code === 'string' ? body.code : '';
    this.requestId = typeof body.requestId === 'string' ? body.requestId : undefined;
    this.retryAfter = retryAfter;
    this.fields = Array.isArray(body.errors) ? (body.errors as FieldProblem[]) : [];
  }

  /** True where the same request can succeed later. */
  get passes(): boolean {
    return this.status === 0 || this.status === 429 || this.status === 503;
  }
}

export const problemOf = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem(0, { message: error instanceof Error ? error.message : String(error) });
