/** Why a transfer cannot go on, for people: it ends as failed with this message. */
export class TransferFailure extends Error {
  override readonly name = 'TransferFailure';
}
