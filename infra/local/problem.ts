/** An error that the user can fix: its message is shown without a stack trace. */
export class StartProblem extends Error {
  override readonly name = 'StartProblem';
}

/**
 * What the person at the keyboard can mend is said in its own words; anything else is a fault of ours, with its stack
 * and what brought it about, which our own errors keep to themselves.
 */
export const textOf = (error: unknown): string => {
  if (error instanceof StartProblem) return error.message;
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? error.message;
  return error.cause instanceof Error ? `${text}\nbecause of ${error.cause}` : text;
};
