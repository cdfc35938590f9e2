import type { Outcome, RuleNode, Rules, triedOperations } from '../../collections/rules/rule.ts';
import { fieldsOf } from '../../collections/schema/field-path.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { AppError, type FieldError, statusOf, validationFailed } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { type Document, documentId, documentNotFound, type JsonObject } from '../document.ts';
import { runsEffects } from '../effects/set-fields.ts';
import { madeOf } from '../store/new-document.ts';
import { appliedBy } from '../store/operations.ts';
import { planUpdate } from '../store/plan-update.ts';
import { operationsBeside, settleEffects, settleUpdate } from '../store/settle-update.ts';
import { convertFields } from '../values.ts';
import { type AccessContext, mayRead, mayWrite, notOwner, obeysRules, requireWriteAccess } from './access.ts';
import { bind, needsRecord } from './bind.ts';
import { decide } from './decide.ts';
import { requireInsertRights } from './field-rights.ts';
import { listDecider, mayGet, requireGet, requireList } from './reading.ts';
import { rulesOf, userOf } from './rules-of.ts';
import { decideWrite, requireCreate, requireCreateAccess } from './writing.ts';

/** A request to try; `changes` are the body of an update. */
interface Trial {
  readonly operation: (typeof triedOperations)[number] | 'read';
  readonly userId?: string | undefined;
  readonly documentId?: string | undefined;
  readonly document?: JsonObject | undefined;
  readonly changes?: JsonObject | undefined;
}

/** The response that the request would get, and the outcome of each comparison. */
interface TrialResult {
  readonly allowed: boolean;
  readonly status: number;
  readonly code?: string;
  readonly parts: readonly { readonly path: string; readonly outcome: 'true' | 'false' | 'unknown' }[];
}

/** The document in its stored form, from the collection or from the body. */
const documentOf = async ({ project, collection }: AccessContext, trial: Trial): Promise<Document> => {
  if (trial.documentId !== undefined) {
    const _id = documentId(trial.documentId);
    const found = await onProject(project, (db) => db.collection(collection.name).findOne({ _id }, { maxTimeMS }));
    if (!found) throw documentNotFound();
    return found;
  }
  const errors: FieldError[] = [];
  const { _id, ...sent } = trial.document ?? {};
  const fields = fieldsOf(collection).map((field) => ({ ...field, required: false }));
  const values = convertFields(fields, sent, '', errors);
  if (errors.length > 0) throw validationFailed(...errors);
  return { isDeleted: false, deletedAt: null, ...values, _id: typeof _id === 'string' ? documentId(_id) : newId() };
};

/** The parsed changes of an update, and what it sets in a given document. */
const planOf = (context: AccessContext, changes: JsonObject) => {
  const plan = planUpdate(context.collection, changes);
  const byRights = settleUpdate(context, plan.set, plan.sent, plan);
  const given = async (document: Document) => (byRights ? byRights(document) : plan.set);
  const settle = runsEffects(context, 'update') ? settleEffects(context, given, plan.operations) : byRights;
  return { plan, settle, made: (set: JsonObject) => appliedBy(set, operationsBeside(set, plan.operations)) };
};

/** The checks of the real request, without its write. Throws its error. */
const check = async (context: AccessContext, trial: Trial, document: Document): Promise<boolean> => {
  const { operation, changes = {} } = trial;
  const byRules = obeysRules(context);
  switch (operation) {
    case 'get':
    case 'read':
      await requireGet(context, isTrashed(document));
      if (!(await mayGet(context, document))) throw documentNotFound();
      return true;
    case 'list':
      await requireList(context);
      return byRules ? await (await listDecider(context))(document) : mayRead(context, document);
    case 'create':
      if (byRules) await requireCreateAccess(context);
      else requireWriteAccess(context);
      await requireInsertRights(context, trial.document ?? {}, document);
      if (byRules) await requireCreate(context, document);
      return true;
    default: {
      const planned = operation === 'update' ? planOf(context, changes) : undefined;
      const settle = planned?.settle;
      if (byRules) {
        const decision = await decideWrite(
          context,
          operation,
          planned && appliedBy(planned.plan.set, planned.plan.operations),
        );
        await decision.require(document, async () => settle && planned.made(await settle(document)));
        return true;
      }
      requireWriteAccess(context);
      if (!mayWrite(context, document)) throw notOwner();
      await settle?.(document);
      return true;
    }
  }
};

/**
 * The document after an update; `undefined` if the changes do not fit the stored values. Errors are those of the real
 * request, which `check` gives.
 */
const resultOf = async (
  context: AccessContext,
  changes: JsonObject,
  document: Document,
): Promise<Document | undefined> => {
  const { plan, settle, made } = planOf(context, changes);
  const attempts = [async () => appliedBy(plan.set, plan.operations)];
  if (settle && runsEffects(context, 'update')) attempts.unshift(async () => made(await settle(document)));
  for (const attempt of attempts) {
    try {
      return (await attempt()).to(document);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }
  return undefined;
};

/** The rules of a request, each with its document. */
const rulesAsked = async (
  rules: Rules,
  { operation, changes = {} }: Trial,
  context: AccessContext,
  document: Document,
) => {
  const about = (...all: readonly RuleNode[]) => all.map((rule) => ({ rule, document, stored: undefined }));
  switch (operation) {
    case 'get':
    case 'read':
      return about(rules.get, ...(isTrashed(document) ? [rules.readTrash] : []));
    case 'update': {
      const after = await resultOf(context, changes, document);
      const ofResult = after ? [{ rule: rules.after, document: after, stored: document }] : [];
      return [...about(rules.before), ...ofResult];
    }
    case 'purge':
      return about(rules.delete, rules.purge);
    default:
      return about(rules[operation]);
  }
};

const traced = async (context: AccessContext, trial: Trial, document: Document): Promise<TrialResult['parts']> => {
  if (!context.collection.rls.enabled) return [];
  const { project, caller, collection } = context;
  const { rules, known } = await rulesOf(project, collection);
  const asked = await rulesAsked(rules, trial, context, document);
  const user = await userOf(project, caller, known, needsRecord(asked.map(({ rule }) => rule)));
  const parts: { path: string; outcome: 'true' | 'false' | 'unknown' }[] = [];
  const trace = (path: string, outcome: Outcome) => parts.push({ path, outcome: `${outcome}` });
  for (const { rule, document: about, stored } of asked) {
    const bound = await bind(rule, { project, caller, collection, known, user, document: about });
    decide(bound, { document: about, user, trace, ...(stored && { stored }) });
  }
  return parts;
};

/** Errors of a new document whose effects could not run, which are answers to the trial. */
const ofEffects: ReadonlySet<string> = new Set(['FIELD_PROTECTED', 'EFFECT_REFUSED']);

const successOf = ({ operation }: Trial): number => (operation === 'create' ? 201 : 200);

/**
 * The response that a request with the publishable key would get, and why: each comparison in the order of the
 * rules, even if an earlier one decides. Without `userId` the caller has no token. Writes nothing. Throws 400
 * `VALIDATION_FAILED` for a document that does not fit the schema, 404 for a missing one.
 */
export const tryRules = async (owned: Omit<AccessContext, 'caller'>, trial: Trial): Promise<TrialResult> => {
  const { userId } = trial;
  const context: AccessContext = {
    ...owned,
    caller: { kind: 'publishable', ...(userId !== undefined && { userId, mfa: true as const }) },
  };
  const isCreated = trial.operation === 'create' && trial.documentId === undefined;
  const denied = (error: unknown, parts: TrialResult['parts']): TrialResult => {
    if (!(error instanceof AppError)) throw error;
    return { allowed: false, status: statusOf[error.code], code: error.code, parts };
  };
  let document: Document;
  try {
    document = isCreated ? (await madeOf(context, trial.document ?? {})).document : await documentOf(context, trial);
  } catch (error) {
    const isOfEffect = error instanceof AppError && ofEffects.has(error.code);
    if (isOfEffect) return denied(error, []);
    throw error;
  }
  const parts = await traced(context, trial, document);
  try {
    return { allowed: await check(context, trial, document), status: successOf(trial), parts };
  } catch (error) {
    return denied(error, parts);
  }
};
