import { type IndexDescription, ObjectId } from 'mongodb';
import * as v from 'valibot';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { onDuplicateKey, retryOnConflict } from '../../core/retry.ts';
import { cutText } from '../../core/text.ts';
import type { Page, PageRequest } from '../../core/values.ts';
import { idOf, type View, viewOf } from '../../core/view.ts';
import { inControl } from '../../persistence/mongo.ts';
import { findPage } from '../../persistence/records.ts';
import { insertInSlot } from '../../projects/create-project.ts';
import type { Project } from '../../projects/project.ts';
import { oneLine } from '../check-mail.ts';
import { type BuiltInKey, builtInKeyOf, builtInKeys, builtInTemplates, isBuiltInKey, mustShowOf } from './built-in.ts';
import { carriesProof, type MailContent, type MailTemplate } from './render.ts';

/** A template of a project's own, in `control.mailTemplates`. */
interface TemplateRecord {
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
const comparable = (text: string): string => text.normalize('NFC').trim().toLowerCase();

export const templateRecords = inControl<TemplateRecord>('mailTemplates');

const templateExists = (): AppError =>
  new AppError('TEMPLATE_EXISTS', 'This project already has a template with this name or key (case does not matter).');

const templatesPerProject = 100;

const tooManyTemplates = (): AppError =>
  new AppError('PLAN_LIMIT', `A project may have ${templatesPerProject} mail templates. Delete one first.`);

/** Name and key as the unique indexes compare them. */
const comparableNames = ({ name, key }: Pick<TemplateRecord, 'name' | 'key'>) => ({
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

/** The longest html or text, in characters. */
const maxBodyLength = 256 * 1024;

const line = (longest: number) =>
  v.pipe(
    v.string('must be a String'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(longest, `must have at most ${longest} characters`),
    v.regex(oneLine, 'must not contain control characters'),
  );

const key = v.nullable(
  v.pipe(
    v.string('must be a String or null'),
    v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must have 1 to 64 letters, digits, dots, dashes and underscores'),
  ),
);

/** A part of the mail; a blank one is as none. */
const part = v.nullable(
  v.pipe(
    v.string('must be a String or null'),
    v.maxLength(maxBodyLength, `must have at most ${maxBodyLength} characters`),
    v.transform((text) => (text.trim() === '' ? null : text)),
  ),
);

const optional = { key: v.optional(key), html: v.optional(part), text: v.optional(part) };

/** What a template is made from (contract 5, "Templates"). */
export const newTemplateEntries = { name: line(100), subject: line(500), ...optional };

/** What may be changed of one; what is left out stays, `null` clears it. */
export const templateChangesEntries = {
  name: v.optional(newTemplateEntries.name),
  subject: v.optional(newTemplateEntries.subject),
  ...optional,
};

type Output<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>;

type NewTemplate = Output<typeof newTemplateEntries>;

type TemplateChanges = Output<typeof templateChangesEntries>;

/** Which template a mail is made from: by id, or by name or key. */
export type TemplateReference = { readonly templateId: string } | { readonly templateName: string };

type Named = Pick<Project, 'id' | 'name'>;

const templateNotFound = (wanted: string): AppError =>
  new AppError('TEMPLATE_NOT_FOUND', `This project has no mail template "${cutText(wanted, 100)}".`);

const findOwnByName = async (projectId: string, name: string): Promise<TemplateRecord | undefined> => {
  const wanted = comparable(name);
  const matches = await templateRecords.find({
    projectId: new ObjectId(projectId),
    $or: [{ nameKey: { $eq: wanted } }, { keyKey: { $eq: wanted } }],
  });
  return matches.find(({ nameKey }) => nameKey === wanted) ?? matches[0];
};

export const findCustomByKey = (projectId: string, key: string): Promise<TemplateRecord | null> =>
  templateRecords.findOne({ projectId: new ObjectId(projectId), keyKey: { $eq: key } });

/** The project's own template with an id; malformed, unknown and other projects' → 404 `TEMPLATE_NOT_FOUND`. */
const requireCustomById = async (projectId: string, templateId: string): Promise<TemplateRecord> => {
  const _id = idOf(templateId);
  const found = _id && (await templateRecords.findOne({ _id, projectId: new ObjectId(projectId) }));
  if (!found) throw templateNotFound(templateId);
  return found;
};

/**
 * The template that a mail is to be made from: one of the project's own by id, by name or else by key, or a built-in
 * one by key or name; names and keys without regard to case. Malformed, unknown and other projects' → 404
 * `TEMPLATE_NOT_FOUND`.
 */
export const findTemplate = async (
  { id, name: siteName }: Named,
  reference: TemplateReference,
): Promise<MailTemplate> => {
  if ('templateId' in reference) return { ...(await requireCustomById(id, reference.templateId)), siteName };
  const { templateName } = reference;
  const own = await findOwnByName(id, templateName);
  if (own) return { ...own, siteName };
  const key = builtInKeyOf(templateName);
  if (!key) throw templateNotFound(templateName);
  return { ...builtInTemplates[key], siteName };
};

/** A template as lists show it. A built-in one has its key as `_id`, and was never updated. */
interface TemplateSummary extends View<TemplateRecord, '_id' | 'key' | 'name' | 'subject'> {
  readonly builtIn: boolean;
  readonly updatedAt: Date | null;
}

/** The template record of contract 5. */
type TemplateView = TemplateSummary & Pick<TemplateRecord, 'html' | 'text'>;

const toTemplateView = (record: TemplateRecord): TemplateView => ({
  ...viewOf(record, ['_id', 'key', 'name', 'subject', 'html', 'text', 'updatedAt']),
  builtIn: false,
});

const builtInView = (key: BuiltInKey): TemplateView => {
  const { name, subject, html, text } = builtInTemplates[key];
  return { _id: key, key, name, subject, html, text, builtIn: true, updatedAt: null };
};

const toSummary = ({ html: _html, text: _text, ...summary }: TemplateView): TemplateSummary => summary;

/** A page of the templates that a project can send: its own by name, then the built-in ones. Without html and text. */
export const listMailTemplates = async (
  project: Pick<Project, 'id'>,
  request: PageRequest,
): Promise<Page<TemplateSummary>> => {
  const own = { projectId: new ObjectId(project.id) };
  const shown = { projection: { key: 1, name: 1, subject: 1, updatedAt: 1 }, sort: { nameKey: 1 } } as const;
  const { items, total, page, limit } = await findPage(templateRecords, own, request, shown, toTemplateView);
  const end = page * limit - total;
  const builtIn = builtInKeys.slice(Math.max(0, end - limit), Math.max(0, end)).map(builtInView);
  return { items: [...items, ...builtIn].map(toSummary), total: total + builtInKeys.length, page, limit };
};

/** One template, whole; a built-in one by its key. Unknown → 404 `TEMPLATE_NOT_FOUND`. */
export const getMailTemplate = async (project: Pick<Project, 'id'>, templateId: string): Promise<TemplateView> =>
  isBuiltInKey(templateId) ? builtInView(templateId) : toTemplateView(await requireCustomById(project.id, templateId));

type Reserved = Pick<TemplateRecord, 'slot' | 'nameKey' | 'keyKey'>;

const attempt = async (wanted: Omit<TemplateRecord, 'slot'>): Promise<TemplateRecord | null> => {
  const others: Reserved[] = await templateRecords.find(
    { projectId: wanted.projectId },
    { projection: { _id: 0, slot: 1, nameKey: 1, keyKey: 1 } },
  );
  const clashes = ({ nameKey, keyKey }: Reserved) =>
    nameKey === wanted.nameKey || (keyKey !== null && keyKey === wanted.keyKey);
  if (others.some(clashes)) throw templateExists();
  return insertInSlot(templateRecords, wanted, others, templatesPerProject, tooManyTemplates);
};

/**
 * Makes a template of a project. Its name or key taken in any case → 409 `TEMPLATE_EXISTS`, more than 100 → 403
 * `PLAN_LIMIT`, both decided by unique indexes and so exact under parallel calls; neither html nor text → 400
 * `INVALID_MAIL`.
 */
export const createMailTemplate = async (
  project: Pick<Project, 'id'>,
  { name, subject, key = null, html = null, text = null }: NewTemplate,
): Promise<TemplateView> => {
  const now = new Date(clock.now());
  const wanted: Omit<TemplateRecord, 'slot'> = {
    _id: newId(),
    projectId: new ObjectId(project.id),
    name,
    key,
    ...comparableNames({ name, key }),
    subject,
    html,
    text,
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
  requireUsable(wanted);
  return toTemplateView(
    await retryOnConflict('Too many templates are being made at once. Please try again.', () => attempt(wanted)),
  );
};

const requireOwn = async (project: Pick<Project, 'id'>, templateId: string): Promise<TemplateRecord> => {
  if (!isBuiltInKey(templateId)) return requireCustomById(project.id, templateId);
  throw new AppError(
    'TEMPLATE_NOT_FOUND',
    `The template ${templateId} is built in. To change it, create your own template with this key.`,
  );
};

/** Writes an edit unless another came between, then `null`. */
const replace = (
  { _id, projectId, version }: TemplateRecord,
  changes: Partial<TemplateRecord>,
): Promise<TemplateRecord | null> => {
  const updated = templateRecords.findOneAndUpdate(
    { _id, projectId, version },
    { $set: { ...changes, version: version + 1, updatedAt: new Date(clock.now()) } },
    { returnDocument: 'after' },
  );
  return onDuplicateKey(updated, () => {
    throw templateExists();
  });
};

/**
 * Changes what is given of a template and leaves the rest; `null` clears key, html or text. Refusals as
 * `createMailTemplate` has them; nothing given → 400 `NOTHING_TO_UPDATE`; unknown and built-in → 404
 * `TEMPLATE_NOT_FOUND`.
 */
export const updateMailTemplate = async (
  project: Pick<Project, 'id'>,
  templateId: string,
  changes: TemplateChanges,
): Promise<TemplateView> => {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw new AppError('NOTHING_TO_UPDATE', 'Name at least one field to change.');
  const edit = async (): Promise<TemplateRecord | null> => {
    const record = await requireOwn(project, templateId);
    const edited: TemplateRecord = { ...record, ...Object.fromEntries(given) };
    const names = comparableNames(edited);
    requireUsable({ ...edited, ...names });
    return replace(record, { ...Object.fromEntries(given), ...names });
  };
  return toTemplateView(await retryOnConflict('The template is being changed by others. Please try again.', edit));
};

/** Deletes a template of the project's own; unknown and built-in → 404 `TEMPLATE_NOT_FOUND`. */
export const deleteMailTemplate = async (project: Pick<Project, 'id'>, templateId: string): Promise<void> => {
  const { _id, projectId } = await requireOwn(project, templateId);
  const { deletedCount } = await templateRecords.deleteOne({ _id, projectId });
  if (deletedCount === 0) throw templateNotFound(templateId);
};
