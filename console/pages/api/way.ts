import type { ApiExample } from 'basalt:api';
import { type Access, halvesOf, readHalves, rulesOf } from '../access/access-kinds.ts';
import type { Names, Way } from './code.ts';
import type { SampledCollection } from './sample.ts';

/** The rule that decides about a route; reading unless it is named here. */
const ruleNames: Readonly<Record<string, 'create' | 'update' | 'delete'>> = {
  'create-document': 'create',
  'create-documents': 'create',
  'update-documents': 'update',
  'delete-documents': 'delete',
  'update-document': 'update',
  'delete-document': 'delete',
  'restore-document': 'update',
  'run-batch': 'create',
};

const ruleFor = (id: string, rls: SampledCollection['rls']): unknown => {
  const rules = rulesOf(rls as Access);
  const name = ruleNames[id];
  if (name) return rules[name];
  return halvesOf(rules.read, readHalves)?.[id === 'get-document' ? 'get' : 'list'] ?? rules.read;
};

/** The least privileged key that a call works with, by the access rules of the collection. */
export const wayOf = (
  { id, area, access }: ApiExample,
  { collection: { rls }, userUploads }: Pick<Names, 'collection' | 'userUploads'>,
): Way => {
  if (access === 'public' || access === 'user') return access;
  if (access === 'secretKey') return 'secret';
  if (id === 'list-own-files') return 'user';
  if (area === 'storage' && access === 'anyKey') return userUploads ? 'user' : 'secret';
  if ((area !== 'data' && area !== 'realtime') || id === 'get-schema') return 'publishable';
  const rule = ruleFor(id, rls);
  if (rule === false || rule === undefined) return 'secret';
  return rule === true && rls.requires !== 'mfa' ? 'publishable' : 'user';
};
