import { isDeepStrictEqual } from 'node:util';
import { systemFields } from '../../collections/collection.ts';
import type { Effect } from '../../collections/effects/effect.ts';
import { AppError, type ErrorDetail, isClientError, statusOf } from '../../core/errors.ts';
import { findAnyTemplate } from '../../mail/templates/templates.ts';
import type { AccessContext } from '../access/access.ts';
import { type Document, withoutHidden } from '../document.ts';
import type { BatchWrite } from '../store/batch-writes.ts';
import { runCause } from '../store/effect-writes.ts';
import type { EffectCause } from '../store/joint-scope.ts';
import { type PreviewedDocuments, type PreviewedWrite, previewWrite } from '../store/preview-write.ts';
import { asJson } from './compute.ts';
import { type PendingMail, pendingMailsOf } from './pending-mails.ts';
import { receiverOf } from './queue-mails.ts';

/** Why a write would be rejected. */
export interface Rejection {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** A field before and after a write. A value is missing if the field is missing, or if it is too long to show. */
interface TriedField {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly isLong?: true;
}

export interface TriedWrite {
  readonly op: BatchWrite['op'];
  readonly collection: string;
  readonly id?: string;
  readonly fields: readonly TriedField[];
  readonly refused?: Rejection;
}

export interface TriedMail {
  readonly template: string;
  readonly hasTemplate: boolean;
  /** The address, if the email has one. */
  readonly to?: string;
  /** Why no one gets it. */
  readonly reason?: string;
}

interface TriedEffect {
  readonly at: string;
  /**
   * `otherWrite`: it runs after other kinds of write. `skipped`: its condition does not hold. `noDate`: the document has
   * no date at which it runs. `ran`: it has run for the date.
   */
  readonly state: 'runs' | 'refused' | 'skipped' | 'otherWrite' | 'notReached' | 'noDate' | 'ran';
  /** When an effect at a time runs: within a minute after it. */
  readonly runsAt?: Date;
  readonly set: readonly TriedField[];
  readonly writes: readonly TriedWrite[];
  readonly mails: readonly TriedMail[];
  readonly refused?: Rejection;
}

/** What effects would do; `refused` is the response that the write would get instead. */
export interface TriedEffects {
  readonly refused?: Rejection;
  readonly effects: readonly TriedEffect[];
}

/** Longer values, as JSON, are not shown. */
const maxShownLength = 2000;

export const changeOf = (field: string, before: unknown, after: unknown): TriedField => {
  const values = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  return JSON.stringify(values).length > maxShownLength ? { field, isLong: true } : { field, ...values };
};

/** The fields that a write changes, except those of the service. */
const changesOf = ({ before, after }: PreviewedWrite): readonly TriedField[] => {
  const [from, to] = [withoutHidden(before ?? ({} as Document)), withoutHidden(after ?? ({} as Document))];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter((name) => !systemFields.has(name));
  const changed = after ? names.filter((name) => !isDeepStrictEqual(from[name], to[name])) : [];
  return changed.map((name) => changeOf(name, asJson(from[name]), asJson(to[name])));
};

export const rejectionOf = (error: unknown): Rejection => {
  if (!isClientError(error)) throw error;
  const { code, message, logged } = error;
  const detail: ErrorDetail | undefined = logged?.[0];
  const reason = detail?.message ?? message;
  return { status: statusOf[code], code, message: reason };
};

const triedMail = async ({ project }: AccessContext, pending: PendingMail): Promise<TriedMail> => {
  const { template } = pending;
  const [receiver, hasTemplate] = await Promise.all([
    receiverOf(project, pending),
    findAnyTemplate(project, template).then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError && error.code === 'TEMPLATE_NOT_FOUND') return false;
        throw error;
      },
    ),
  ]);
  const { address } = receiver;
  return {
    template,
    hasTemplate,
    ...(address !== undefined && { to: address }),
    ...('reason' in receiver && { reason: receiver.reason }),
  };
};

/** The recorded steps of one effect. */
export interface Heard {
  state?: 'noDate' | 'ran';
  runsAt?: Date;
  applies?: boolean;
  set?: readonly (readonly [field: string, value: unknown])[];
  refused?: Rejection;
  readonly writes: TriedWrite[];
  readonly mails: TriedMail[];
}

/** A dry run of the effects of a collection. */
export interface Trying {
  readonly context: AccessContext;
  readonly effects: readonly Effect[];
  /** By the path of the effect. */
  readonly heard: ReadonlyMap<string, Heard>;
}

/** Notes the emails that a previewed write of a document would cause. */
export const hearMails = async (
  { context, effects, heard }: Trying,
  before: Document | undefined,
  after: Document,
): Promise<void> => {
  const known = new Set(before && pendingMailsOf(before).map(({ id }) => id.toHexString()));
  for (const pending of pendingMailsOf(after).filter(({ id }) => !known.has(id.toHexString()))) {
    const effect = effects.find(({ key }) => key === pending.effect);
    heard.get(effect?.at ?? '')?.mails.push(await triedMail(context, pending));
  }
};

/** Previews the writes that effects make after documents were written. Returns the first error of one. */
export const hearWrites = async (
  { effects, heard }: Trying,
  cause: EffectCause,
  left: PreviewedDocuments,
): Promise<Rejection | undefined> => {
  let refused: Rejection | undefined;
  await runCause(cause, {
    perform: async (write, { effect }) => {
      const { op, access, id } = write;
      const tried = { op, collection: access.collection.name, id: id.toHexString() };
      const preview = await previewWrite(write, left);
      heard.get(`effects.${effect}`)?.writes.push({ ...tried, fields: changesOf(preview) });
    },
    onRefused: (error, { effect, write }) => {
      const rejection = rejectionOf(error);
      refused ??= rejection;
      const declared = effects[effect]?.writes[write];
      const { op = 'check', collection: name = '' } = declared ?? {};
      heard.get(`effects.${effect}`)?.writes.push({ op, collection: name, fields: [], refused: rejection });
    },
  });
  return refused;
};
