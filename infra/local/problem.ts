/** An error that the user can fix: its message is shown without a stack trace. */
export class StartProblem extends Error {
  override readonly name = 'StartProblem';
}
