import { type IndexDescription, ObjectId } from 'mongodb';
import * as v from 'valibot';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { onDuplicateKey, retryOnConflict } from '../../core/retry.ts';
import { cutText } from '../../core/text.ts';
import type { Page, PageRequest } from '../../core/values.ts';
import { idOf, type View, viewOf } from '../../core/values.ts';
import { inControl } from '../../persistence/mongo.ts';
import { findPage } from '../../persistence/records.ts';
import { insertInSlot } from '../../projects/create-project.ts';
import type { Project } from '../../projects/project.ts';
import { oneLine } from '../check-mail.ts';
import {
  type BuiltInKey,
  builtInKeyOf,
  builtInKeys,
  builtInTemplates,
  isBuiltInKey,
  requiredVariablesOf,
} from './built-in.ts';
import { containsVariable, type MailContent, type MailTemplate } from './render.ts';

interface TemplateRecord {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  /** Number below the limit, unique in the project. */
  readonly slot: number;
  readonly name: string;
  readonly key: string | null;
  /** Name and key in lower case, as the unique indexes compare them. */
  readonly nameKey: string;
  readonly keyKey: string | null;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  /** Counts edits, so that concurrent edits are detected. */
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

const comparable = (text: string): string => text.normalize('NFC').trim().toLowerCase();

export const templateRecords = inControl<TemplateRecord>('mailTemplates');

const templateExists = (): AppError =>
  new AppError('TEMPLATE_EXISTS', 'This project already has a template with this name or key (case does not matter).');

const templatesPerProject = 100;

const tooManyTemplates = (): AppError =>
  new AppError('PLAN_LIMIT', `A project may have ${templatesPerProject} mail templates. Delete one first.`);

const comparableNames = ({ name, key }: Pick<TemplateRecord, 'name' | 'key'>) => ({
  nameKey: comparable(name),
  keyKey: key === null ? null : comparable(key),
});

/** Throws 400 `INVALID_MAIL` without a body, or if an account template lacks its link or code. */
export const requireUsable = (template: MailContent & Pick<TemplateRecord, 'keyKey'>): void => {
  if (template.html === null && template.text === null) {
    throw new AppError('INVALID_MAIL', 'Provide at least one of html or text content.');
  }
  const needed = requiredVariablesOf(template.keyKey);
  if (needed && !containsVariable(template, needed)) {
    throw new AppError(
      'INVALID_MAIL',
      `A template with the key ${template.keyKey} must show ${needed.map((name) => `{{${name}}}`).join(' or ')}, in its html and in its text.`,
    );
  }
};

/** Characters. */
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

/** A blank part counts as none. */
const part = v.nullable(
  v.pipe(
    v.string('must be a String or null'),
    v.maxLength(maxBodyLength, `must have at most ${maxBodyLength} characters`),
    v.transform((text) => (text.trim() === '' ? null : text)),
  ),
);

const optional = { key: v.optional(key), html: v.optional(part), text: v.optional(part) };

export const newTemplateEntries = { name: line(100), subject: line(500), ...optional };

/** Missing fields stay; `null` clears. */
export const templateChangesEntries = {
  name: v.optional(newTemplateEntries.name),
  subject: v.optional(newTemplateEntries.subject),
  ...optional,
};

type Output<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>;

type NewTemplate = Output<typeof newTemplateEntries>;

type TemplateChanges = Output<typeof templateChangesEntries>;

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

/** Throws 404 `TEMPLATE_NOT_FOUND`. */
const requireCustomById = async (projectId: string, templateId: string): Promise<TemplateRecord> => {
  const _id = idOf(templateId);
  const found = _id && (await templateRecords.findOne({ _id, projectId: new ObjectId(projectId) }));
  if (!found) throw templateNotFound(templateId);
  return found;
};

/** Finds a template by id; or by name or key, custom ones before built-in ones. Throws 404 `TEMPLATE_NOT_FOUND`. */
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

/** Finds a template by its id, name or key. Throws 404 `TEMPLATE_NOT_FOUND`. */
export const findAnyTemplate = async (project: Named, wanted: string): Promise<MailTemplate> => {
  const _id = idOf(wanted);
  const found = _id && (await templateRecords.findOne({ _id, projectId: new ObjectId(project.id) }));
  return found ? { ...found, siteName: project.name } : findTemplate(project, { templateName: wanted });
};

/** A built-in template has its key as `_id`. */
interface TemplateSummary extends View<TemplateRecord, '_id' | 'key' | 'name' | 'subject'> {
  readonly builtIn: boolean;
  readonly updatedAt: Date | null;
}

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

/** A page of custom templates by name, then built-in ones, without html and text. */
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

/** Throws 404 `TEMPLATE_NOT_FOUND`. */
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

/** Errors: 409 `TEMPLATE_EXISTS`, 403 `PLAN_LIMIT` over 100 (exact under concurrency), 400 `INVALID_MAIL`. */
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
    await retryOnConflict('Too many templates are being created at the same time. Retry.', () => attempt(wanted)),
  );
};

const requireOwn = async (project: Pick<Project, 'id'>, templateId: string): Promise<TemplateRecord> => {
  if (!isBuiltInKey(templateId)) return requireCustomById(project.id, templateId);
  throw new AppError(
    'TEMPLATE_NOT_FOUND',
    `The template ${templateId} is built in. To change it, create your own template with this key.`,
  );
};

/** Returns `null` if another edit came first. */
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

/** `null` clears. Errors: those of `createMailTemplate`, 400 `NOTHING_TO_UPDATE`, 404 `TEMPLATE_NOT_FOUND`. */
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
  return toTemplateView(await retryOnConflict('Other requests are changing the template. Retry.', edit));
};

/** Throws 404 `TEMPLATE_NOT_FOUND`. */
export const deleteMailTemplate = async (project: Pick<Project, 'id'>, templateId: string): Promise<void> => {
  const { _id, projectId } = await requireOwn(project, templateId);
  const { deletedCount } = await templateRecords.deleteOne({ _id, projectId });
  if (deletedCount === 0) throw templateNotFound(templateId);
};
