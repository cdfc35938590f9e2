import type { IndexDescription, ObjectId } from 'mongodb';
import { inControl } from '../../clients/mongo.ts';

/** A template of a project's own, in `control.mailTemplates`. */
export interface TemplateRecord {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  /** Numbers the project's templates, so that a unique index holds their limit. */
  readonly slot: number;
  readonly name: string;
  readonly key: string | null;
  /** Name and key as they are looked up and compared. */
  readonly nameKey: string;
  readonly keyKey: string | null;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  /** Counts the edits, so that an edit knows whether another came between. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Indexes of `control.mailTemplates`. */
export const templateIndexes: readonly IndexDescription[] = [
  { key: { projectId: 1, nameKey: 1 }, name: 'nameKey', unique: true },
  {
    key: { projectId: 1, keyKey: 1 },
    name: 'keyKey',
    unique: true,
    partialFilterExpression: { keyKey: { $type: 'string' } },
  },
  { key: { projectId: 1, slot: 1 }, name: 'slot', unique: true },
];

/** A name or key as it is compared: without regard to case and to how a letter is composed. */
export const comparable = (text: string): string => text.normalize('NFC').trim().toLowerCase();

export const onTemplates = inControl<TemplateRecord>('mailTemplates');
