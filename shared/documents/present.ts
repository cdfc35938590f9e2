import type { Project } from '../projects/project.ts';
import type { Document } from './document.ts';
import { wireDocument } from './wire-value.ts';

/** A stored document as callers see it: without system fields it is active and shows so (contract 2, "Active"). */
export const present = (document: Document): Document => {
  const { isDeleted, deletedAt } = document;
  if (isDeleted !== undefined && deletedAt !== undefined) return document;
  return { ...document, isDeleted: isDeleted ?? false, deletedAt: deletedAt ?? null };
};

/** The same of a document that the driver decoded: only one of a customer's own database needs its wire form made. */
export const presentStored = ({ placement }: Project, document: Document): Document =>
  present(placement.kind === 'managed' ? document : wireDocument(document));
