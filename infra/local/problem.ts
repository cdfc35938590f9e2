/** An error that the user can fix. It is printed without a stack trace. */
export class StartProblem extends Error {
  override readonly name = 'StartProblem';
}

/** The text to print for an error: the message of a `StartProblem`, otherwise stack trace and cause. */
export const textOf = (error: unknown): string => {
  if (error instanceof StartProblem) return error.message;
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? error.message;
  return error.cause instanceof Error ? `${text}\nCaused by ${error.cause}` : text;
};
