/** Something the person at the keyboard can mend: its message is shown alone, without a stack. */
export class StartProblem extends Error {
  override readonly name = 'StartProblem';
}
