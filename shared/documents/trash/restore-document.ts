import { AppError } from '../../core/errors.ts';
import { presentStored } from '../present.ts';
import type { Revised } from '../revision.ts';
import type { Visit } from '../row-security.ts';
import { setFields } from '../write/change-document.ts';
import { mustHaveRoom, nothingAdded } from '../write/document-size.ts';

/** Only a document that others wrote into an own database can be so large. */
const tooLargeToAnswer = (): AppError =>
  new AppError('DOCUMENT_TOO_LARGE', 'The document is larger than an answer can be, so it can only be removed.');

/**
 * Takes a document back out of the trash and returns it, in one command. Not trashed → 404; its unique value taken
 * meanwhile → 409 `DUPLICATE_VALUE`; another user's → 403 `NOT_OWNER`; larger than an answer can be → 413; another
 * revision than `ifMatch` → 412. Contract 2, "Restore".
 */
export const restoreDocument = async (visit: Visit, id: string, ifMatch?: number): Promise<Revised> => {
  const restored = await setFields(visit, id, {
    state: 'trashed',
    guards: [mustHaveRoom(nothingAdded, tooLargeToAnswer)],
    ifMatch,
    fields: { isDeleted: false, deletedAt: null },
  });
  return presentStored(visit.project, restored);
};
