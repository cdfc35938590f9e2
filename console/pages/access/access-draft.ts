import type { Collection } from '../../../shared/collections/collection.ts';
import type { RulesInput } from '../../../shared/collections/rules/rule.ts';
import { isPlainObject } from '../../../shared/core/json.ts';
import { Problem } from '../../api/problem.ts';
import { access } from '../../text/access.ts';
import {
  type AccessKind,
  halvesOf,
  isOwnerRule,
  isSignedIn,
  kindOf,
  ownerRule,
  readHalves,
  signedIn,
  updateHalves,
} from './access-kinds.ts';
import type { RuleName } from './rule-clauses.ts';

export type RuleChoice = keyof typeof access.choices;

/** A rule as it is edited; `text` is the JSON of a custom rule. */
export interface RuleDraft {
  readonly choice: RuleChoice;
  readonly text: string;
}

/** The unsaved choices of the page. */
export interface AccessDraft {
  readonly kind: AccessKind;
  /** For *Public read*: whether signed-in users can write their own documents. */
  readonly usersWrite: boolean;
  readonly ownerField: string;
  /** The owner field of custom rules; may be empty. */
  readonly rulesOwner: string;
  readonly trash: 'everyone' | 'owner';
  readonly requires: 'none' | 'mfa';
  readonly splitRead: boolean;
  readonly splitUpdate: boolean;
  readonly rules: Readonly<Record<RuleName, RuleDraft>>;
}

export const optionalRules: readonly RuleName[] = ['readTrash', 'recover', 'purge'];

const textOf = (rule: unknown): string => JSON.stringify(rule, null, 2);

const ruleDraft = (rule: unknown, ownerField: string): RuleDraft => {
  if (rule === undefined) return { choice: 'default', text: textOf(signedIn) };
  if (typeof rule === 'boolean') return { choice: rule ? 'true' : 'false', text: textOf(signedIn) };
  const text = textOf(rule);
  if (isSignedIn(rule)) return { choice: 'signedIn', text };
  return { choice: isOwnerRule(rule, ownerField) ? 'owner' : 'custom', text };
};

/** The first custom rules: signed-in users can read and insert. */
const firstRules: RulesInput = { read: signedIn, create: signedIn, update: false, delete: false };

export const draftOf = (rls: Collection['rls']): AccessDraft => {
  const { ownerField } = rls;
  const kind = kindOf(rls);
  const rules: RulesInput = kind === 'rules' ? (rls.rules ?? {}) : firstRules;
  const owner = rls.enabled ? ownerField : '';
  const read = halvesOf(rules.read, readHalves);
  const update = halvesOf(rules.update, updateHalves);
  const draft = (rule: unknown) => ruleDraft(rule, owner);
  return {
    kind,
    usersWrite: rls.enabled,
    ownerField: ownerField || 'userId',
    rulesOwner: owner,
    trash: rls.trash,
    requires: rls.requires,
    splitRead: read !== undefined,
    splitUpdate: update !== undefined,
    rules: {
      read: draft(read ? false : (rules.read ?? false)),
      get: draft(read ? (read.get ?? false) : (rules.read ?? false)),
      list: draft(read ? (read.list ?? false) : (rules.read ?? false)),
      create: draft(rules.create ?? false),
      update: draft(update ? false : (rules.update ?? false)),
      before: draft(update ? (update.before ?? true) : (rules.update ?? false)),
      after: draft(update ? (update.after ?? true) : true),
      delete: draft(rules.delete ?? false),
      readTrash: draft(rules.readTrash),
      recover: draft(rules.recover),
      purge: draft(rules.purge),
    },
  };
};

/** The path of a rule in errors of the API. */
export const pathOf = (name: RuleName): string => {
  if (name === 'get' || name === 'list') return `rules.read.${name}`;
  return name === 'before' || name === 'after' ? `rules.update.${name}` : `rules.${name}`;
};

const wrong = (name: RuleName, message: string) =>
  new Problem(400, { message, errors: [{ field: pathOf(name), message }] });

/** The rule of a draft; `undefined` for the default. */
export const ruleOf = (name: RuleName, { choice, text }: RuleDraft, ownerField: string): unknown => {
  switch (choice) {
    case 'true':
    case 'false':
      return choice === 'true';
    case 'signedIn':
      return signedIn;
    case 'owner':
      if (ownerField === '') throw wrong(name, access.needsOwner);
      return ownerRule(ownerField);
    case 'default':
      return undefined;
    default: {
      const value = parsed(text);
      if (isPlainObject(value) || typeof value === 'boolean') return value;
      throw wrong(name, access.noObject);
    }
  }
};

/** The rule as far as it can be parsed: `null` if it is not complete. */
export const presentRule: typeof ruleOf = (...rule) => {
  try {
    return ruleOf(...rule);
  } catch {
    return null;
  }
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Row security as it is sent. Throws for a rule that is not valid JSON. */
export const bodyOf = (draft: AccessDraft, read: typeof ruleOf = ruleOf) => {
  const { kind, usersWrite, ownerField, rulesOwner, trash, requires } = draft;
  switch (kind) {
    case 'server':
      // Only the server sees the trash, so no owner field is needed.
      return { enabled: true, mode: 'rules', trash: 'everyone', rules: rulesIn(undefined, read) } as const;
    case 'public':
      return usersWrite
        ? ({ enabled: true, mode: 'public-read', ownerField, trash, requires } as const)
        : ({ enabled: false } as const);
    case 'rules':
      return {
        ...({ enabled: true, mode: 'rules', ownerField: rulesOwner, requires } as const),
        trash: rulesOwner === '' ? 'everyone' : trash,
        rules: rulesIn(draft, read),
      } as const;
    default:
      return {
        ...{ enabled: true, mode: kind === 'owner' ? ('private' as const) : kind, ownerField, trash, requires },
      } as const;
  }
};

const rulesIn = (draft: AccessDraft | undefined, read: typeof ruleOf): Record<string, unknown> => {
  if (!draft) return { read: false, create: false, update: false, delete: false };
  const { splitRead, splitUpdate, rules, rulesOwner } = draft;
  const rule = (name: RuleName) => read(name, rules[name], rulesOwner);
  const optional = optionalRules.map((name) => [name, rule(name)] as const);
  return {
    read: splitRead ? { get: rule('get'), list: rule('list') } : rule('read'),
    create: rule('create'),
    update: splitUpdate ? { before: rule('before'), after: rule('after') } : rule('update'),
    delete: rule('delete'),
    ...Object.fromEntries(optional.filter(([, value]) => value !== undefined)),
  };
};
