import type { Project } from '../projects/project.ts';
import type { Document } from './document.ts';
import { type Revised, revisionOf } from './revision.ts';
import { wireDocument } from './wire-value.ts';

/** A document without what nobody sees of it. */
export const withoutHidden = (document: Document): Document => {
  if (!('_rev' in document || '_pos' in document || '_gone' in document || '_fuse' in document)) return document;
  const { _rev, _pos, _gone, _fuse, ...shown } = document;
  return shown;
};

/** A stored document as callers see it: without system fields it is active and shows so (contract 2, "Active"). */
export const present = (document: Document): Document => {
  const shown = withoutHidden(document);
  const { isDeleted, deletedAt } = shown;
  if (isDeleted !== undefined && deletedAt !== undefined) return shown;
  return { ...shown, isDeleted: isDeleted ?? false, deletedAt: deletedAt ?? null };
};

/** The same of a document that the driver decoded: only one of a customer's own database needs its wire form made. */
export const presentStored = ({ placement }: Project, stored: Document): Revised => ({
  document: present(placement.kind === 'managed' ? stored : wireDocument(stored)),
  revision: revisionOf(stored),
});
