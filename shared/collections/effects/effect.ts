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

export interface Effect {
  readonly at: string;
  readonly on: readonly EffectEvent[];
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

const isOn = ({ on }: EffectInput, event: EffectEvent): boolean => [on].flat().includes(event);

const setBy = memoizeByObject((effects: readonly EffectInput[]) => ({
  all: new Set(effects.flatMap(fieldsSet)),
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
