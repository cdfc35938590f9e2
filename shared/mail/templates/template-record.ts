import type { IndexDescription, ObjectId } from 'mongodb';
import { inControl } from '../../clients/mongo.ts';
import { AppError } from '../../core/errors.ts';
import { mustShowOf } from './built-in.ts';
import { carriesProof, type MailContent } from './render-template.ts';

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

export const templateRecords = inControl<TemplateRecord>('mailTemplates');

export const templateExists = (): AppError =>
  new AppError(
    'TEMPLATE_EXISTS',
    'This project already has a template of this name or key; upper and lower case do not differ.',
  );

export const templatesPerProject = 100;

export const tooManyTemplates = (): AppError =>
  new AppError('PLAN_LIMIT', `A project may have ${templatesPerProject} mail templates. Delete one first.`);

/** Name and key as the unique indexes compare them. */
export const comparableNames = ({ name, key }: Pick<TemplateRecord, 'name' | 'key'>) => ({
  nameKey: comparable(name),
  keyKey: key === null ? null : comparable(key),
});

/** Refuses a template that makes an empty mail, or a mail of accounts that is of no use: 400 `INVALID_MAIL`. */
export const requireUsable = (template: MailContent & Pick<TemplateRecord, 'keyKey'>): void => {
  if (template.html === null && template.text === null) {
    throw new AppError('INVALID_MAIL', 'Provide at least one of html or text content.');
  }
  const needed = mustShowOf(template.keyKey);
  if (needed && !carriesProof(template, needed)) {
    throw new AppError(
      'INVALID_MAIL',
      `A template with the key ${template.keyKey} must show ${needed.map((name) => `{{${name}}}`).join(' or ')}, in its html and in its text.`,
    );
  }
};
