import { isPlainObject } from '../../core/json.ts';
import { isAddress } from '../../core/schemas.ts';
import { ownerFieldOf } from '../collection.ts';
import { usersCollection } from '../names.ts';
import { typeAt } from '../schema/field-path.ts';
import type { EffectMail, MailReceiver } from './effect.ts';
import { below, type EffectScope, invalidEffect, requireField } from './parse-expression.ts';

const members = ['template', 'to'] as const;
const maxTemplateLength = 100;

const parseField = (scope: EffectScope, value: unknown): string => {
  if (typeof value !== 'string') throw invalidEffect(scope.at, 'must name a field, as a text.');
  requireField(scope, scope.collection, value);
  return value;
};

const parseUserIn = (scope: EffectScope, value: unknown): MailReceiver => {
  const path = parseField(scope, value);
  const { collection } = scope;
  const isUser = path === ownerFieldOf(collection.rls) || typeAt(collection, path)?.ref === usersCollection;
  if (!isUser) throw invalidEffect(scope.at, 'must name the owner field, or a Ref to users.');
  return { kind: 'userIn', path };
};

const parseOpen = (scope: EffectScope, { $doc, open }: Readonly<Record<string, unknown>>): MailReceiver => {
  if (open !== true) {
    throw invalidEffect(below(scope, 'open').at, 'must be true, because the field may have the address of anyone.');
  }
  const inner = below(scope, '$doc');
  const path = parseField(inner, $doc);
  const type = typeAt(scope.collection, path)?.type;
  if (type !== undefined && type !== 'String') throw invalidEffect(inner.at, 'must name a String of the document.');
  return { kind: 'open', path };
};

const parseTo = (scope: EffectScope, value: unknown): MailReceiver => {
  if (typeof value === 'string') {
    if (!isAddress(value)) throw invalidEffect(scope.at, 'is not an email address.');
    return { kind: 'address', address: value };
  }
  const to = isPlainObject(value) ? value : {};
  const names = Object.keys(to);
  if (names.length === 1 && to.$user === 'email') return { kind: 'user' };
  if (names.length === 1 && names[0] === '$emailOf') return parseUserIn(below(scope, '$emailOf'), to.$emailOf);
  if (Object.hasOwn(to, '$doc') && names.every((name) => name === '$doc' || name === 'open')) {
    return parseOpen(scope, to);
  }
  throw invalidEffect(
    scope.at,
    'must be an address, {"$user": "email"}, {"$emailOf": "<field>"} or {"$doc": "<field>", "open": true}.',
  );
};

/** Parses the `mail` of an effect. Throws 400 `INVALID_EFFECT` naming the path. */
export const parseMail = (scope: EffectScope, value: unknown): EffectMail => {
  if (!isPlainObject(value)) throw invalidEffect(scope.at, 'must be an object with template and to.');
  const other = Object.keys(value).find((key) => !members.some((member) => member === key));
  if (other !== undefined) throw invalidEffect(below(scope, other).at, 'is not known. A mail has template and to.');
  const { template } = value;
  if (typeof template !== 'string' || template.trim() === '' || template.length > maxTemplateLength) {
    throw invalidEffect(
      below(scope, 'template').at,
      `must be the id, name or key of a template, of at most ${maxTemplateLength} characters.`,
    );
  }
  return { template, to: parseTo(below(scope, 'to'), value.to) };
};
