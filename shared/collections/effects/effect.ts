import { hash } from 'node:crypto';
import { memoizeByObject } from '../../core/cache.ts';
import { isPlainObject } from '../../core/json.ts';
import type { Collection, EffectInput } from '../collection.ts';
import type { RuleNode } from '../rules/rule.ts';

export const effectEvents = ['create', 'update', 'delete'] as const;

/** The writes after which an effect can run. */
export type EffectEvent = (typeof effectEvents)[number];

export type EffectOperator =
  | '$add'
  | '$multiply'
  | '$subtract'
  | '$divide'
  | '$concat'
  | '$minus'
  | '$round'
  | '$lower';

/** A value, or how it is computed. `at` is its path in errors. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: unknown }
  /** A field of the document, or of the target of its Ref. */
  | {
      readonly kind: 'doc';
      readonly at: string;
      readonly path: string;
      readonly ref?: { readonly path: string; readonly collection: string };
    }
  | { readonly kind: 'user' | 'stored'; readonly at: string; readonly path: string }
  | { readonly kind: 'now'; readonly ms: number }
  | {
      readonly kind: 'compute';
      readonly at: string;
      readonly operator: EffectOperator;
      readonly of: readonly Expression[];
    }
  | { readonly kind: 'list'; readonly of: readonly Expression[] }
  | { readonly kind: 'object'; readonly of: readonly (readonly [key: string, value: Expression])[] };

/** A write of another document, as in a batch. Its expressions are filled in when it runs. */
export interface EffectWrite {
  readonly at: string;
  readonly op: 'insert' | 'update' | 'delete' | 'check';
  readonly collection: string;
  readonly id?: Expression;
  readonly ifMatch?: number;
  readonly document?: Expression;
  readonly changes?: Expression;
  readonly where?: Expression;
}

/** Whom the email of an effect reaches. */
export type MailReceiver =
  | { readonly kind: 'address'; readonly address: string }
  /** The caller. */
  | { readonly kind: 'user' }
  /** The user whose id a field has. */
  | { readonly kind: 'userIn'; readonly path: string }
  /** Any address that a field has. */
  | { readonly kind: 'open'; readonly path: string };

export interface EffectMail {
  /** Id, name or key of a template. */
  readonly template: string;
  readonly to: MailReceiver;
}

/** The Date that an effect waits for. */
export interface DueField {
  readonly path: string;
  /** Names the effect in `_effects`. Stays if the rest of the effect is edited, so that no date runs twice. */
  readonly mark: string;
}

export interface Effect {
  readonly at: string;
  /** Empty for an effect that runs at a time. */
  readonly on: readonly EffectEvent[];
  /** Present if the effect runs at a time. */
  readonly due?: DueField;
  /** Conditions of an update on the document before it, and of every write on the document after it. */
  readonly before?: RuleNode;
  readonly after?: RuleNode;
  readonly set: readonly (readonly [field: string, value: Expression])[];
  readonly writes: readonly EffectWrite[];
  /** Its sources and targets are read with the server's rights. */
  readonly trusted: boolean;
  readonly mail?: EffectMail;
  /** Identifies the effect until it is edited. */
  readonly key: string;
}

/** The expressions inside an expression, and itself. */
export const partsOf = (expression: Expression): readonly Expression[] => {
  switch (expression.kind) {
    case 'compute':
    case 'list':
      return [expression, ...expression.of.flatMap(partsOf)];
    case 'object':
      return [expression, ...expression.of.flatMap(([, value]) => partsOf(value))];
    default:
      return [expression];
  }
};

/** Every expression of an effect, and those inside. */
export const expressionsOf = ({ set, writes }: Pick<Effect, 'set' | 'writes'>): readonly Expression[] =>
  [
    ...set.map(([, value]) => value),
    ...writes.flatMap(({ id, document, changes, where }) => [id, document, changes, where]),
  ].flatMap((each) => (each ? partsOf(each) : []));

const fieldsSet = ({ set }: EffectInput): readonly string[] => (isPlainObject(set) ? Object.keys(set) : []);

/** Each effect's Date field, in the order of the list; `undefined` for effects of writes. */
export const dueFieldsOf = memoizeByObject((effects: readonly EffectInput[]): readonly (DueField | undefined)[] =>
  effects.map(({ at }, index) => {
    if (typeof at !== 'string') return undefined;
    const number = effects.slice(0, index).filter((earlier) => earlier.at === at).length;
    return { path: at, mark: `d${hash('sha256', `${number} ${at}`, 'hex').slice(0, 12)}` };
  }),
);

const noDueFields: readonly DueField[] = [];

const dueOnly = memoizeByObject((effects: readonly EffectInput[]) =>
  dueFieldsOf(effects).filter((due) => due !== undefined),
);

/** The Date fields at which effects of a collection run. */
export const dueFields = ({ effects }: Pick<Collection, 'effects'>): readonly DueField[] =>
  effects ? dueOnly(effects) : noDueFields;

/** The hidden field that is set once an effect has nothing to do with a document until the document changes. */
export const seenField = '_effects.seen';

/** The hidden field with the date for which an effect ran, and when it did. */
export const ranField = '_effects.ran';

const isOn = ({ on }: EffectInput, event: EffectEvent): boolean => [on].flat().includes(event);

const setBy = memoizeByObject((effects: readonly EffectInput[]) => ({
  all: new Set(effects.filter(({ at }) => at === undefined).flatMap(fieldsSet)),
  create: new Set(effects.filter((effect) => isOn(effect, 'create')).flatMap(fieldsSet)),
  update: new Set(effects.filter((effect) => isOn(effect, 'update')).flatMap(fieldsSet)),
}));

const mailEvents = memoizeByObject(
  (effects: readonly EffectInput[]): ReadonlySet<unknown> =>
    new Set(effects.filter(({ mail }) => mail !== undefined).flatMap(({ on }) => [on].flat())),
);

/** Whether effects send emails after one kind of write, or after any. */
export const sendsMail = ({ effects }: Pick<Collection, 'effects'>, event?: EffectEvent): boolean => {
  if (!effects) return false;
  const events = mailEvents(effects);
  return event === undefined ? events.size > 0 : events.has(event);
};

/** Whether effects leave work to do after a write. */
export const hasDueWork = (collection: Pick<Collection, 'effects'>): boolean =>
  sendsMail(collection) || dueFields(collection).length > 0;

/** The hidden field with the time from which an email of a document is to be queued. */
export const pendingMailsAt = '_effects.mails.at';

const none: ReadonlySet<string> = new Set();

/** The top-level fields that effects set after one kind of write, or after any. */
export const effectFields = (
  { effects }: Pick<Collection, 'effects'>,
  event: Exclude<EffectEvent, 'delete'> | 'all' = 'all',
): ReadonlySet<string> => (effects ? setBy(effects)[event] : none);

const listOf = ({ writes }: EffectInput): readonly unknown[] => (Array.isArray(writes) ? writes : []);

const writesBy = memoizeByObject((effects: readonly EffectInput[]) => {
  const writesOn = (event: EffectEvent) => effects.filter((effect) => isOn(effect, event)).flatMap(listOf);
  const targets = effects.flatMap(listOf).flatMap((write) => (isPlainObject(write) ? [String(write.collection)] : []));
  const [create, update, deletion] = effectEvents.map((event) => writesOn(event).length);
  return { create: create ?? 0, update: update ?? 0, delete: deletion ?? 0, targets: [...new Set(targets)] };
});

/** How many writes effects make at most after one write of a document. */
export const countEffectWrites = ({ effects }: Pick<Collection, 'effects'>, event: EffectEvent): number =>
  effects ? writesBy(effects)[event] : 0;

/** The collections that effects write. */
export const effectTargets = ({ effects }: Pick<Collection, 'effects'>): readonly string[] =>
  effects ? writesBy(effects).targets : [];
