import type { Item } from '../../api/rows.ts';
import { access as accessTexts } from '../../text/access.ts';
import { t } from '../../text/words.ts';
import type { Place } from '../../ui/places.ts';

export type Rejected = Item<'list-refusals'>;

type Part = 'access' | 'effects' | 'schema' | 'indexes' | 'trash';

/** The parts of the collection that decide about a code. */
const collectionParts: Readonly<Record<string, readonly Part[]>> = {
  RLS_REQUIRED: ['access'],
  RULE_DENIED: ['access'],
  RULE_LIMIT: ['access'],
  NOT_OWNER: ['access'],
  OWNER_IMMUTABLE: ['access'],
  MFA_REQUIRED: ['access'],
  DOCUMENT_NOT_FOUND: ['access', 'trash'],
  FIELD_PROTECTED: ['schema'],
  VALIDATION_FAILED: ['schema'],
  EFFECT_REFUSED: ['effects', 'schema'],
  STILL_REFERENCED: ['schema'],
  CHANGES_NOT_ENABLED: ['schema'],
  SEARCH_NOT_ENABLED: ['schema'],
  DUPLICATE_VALUE: ['schema', 'indexes'],
  QUERY_TIMEOUT: ['indexes'],
};

type Setting = keyof typeof t.settings.parts;

/** The switch of the page Access that would let the request through. */
const switches: Readonly<Record<string, readonly string[]>> = { RLS_REQUIRED: [accessTexts.usersWrite] };

/** The settings that decide about a code. */
const settings: Readonly<Record<string, Setting>> = {
  API_KEY_MISSING: 'keys',
  SECRET_KEY_REQUIRED: 'keys',
  PUBLISHABLE_KEY_REQUIRED: 'keys',
  ORIGIN_NOT_ALLOWED: 'general',
  SITE_URL_REQUIRED: 'general',
  AUTH_DISABLED: 'sign-in',
  DIRECTORY_OFF: 'sign-in',
  SIGN_IN_DISABLED: 'sign-in',
  SIGNUP_DISABLED: 'sign-in',
  UNKNOWN_PROVIDER: 'sign-in',
  SOCIAL_SIGN_IN_FAILED: 'sign-in',
  OWN_MAIL_KEY_REQUIRED: 'mail',
  MAIL_PROVIDER_UNAUTHORIZED: 'mail',
  MAIL_PROVIDER_FORBIDDEN: 'mail',
  HOSTED_FILES_ONLY: 'connections',
};

/** What to send instead, and the page that has it. */
const sent: Readonly<Record<string, readonly (readonly [below: string, label: string])[]>> = {
  RLS_REQUIRED: [
    ['/settings/keys', t.requests.sendSecret],
    ['/api?open=sign-in', t.requests.sendToken],
  ],
  TOKEN_MISSING: [['/api?open=sign-in', t.requests.sendToken]],
};

/** True if the same request needs the token of a user to succeed. */
export const needsUser = ({ code, userId }: Rejected): boolean =>
  Boolean(userId) || code === 'RLS_REQUIRED' || code === 'TOKEN_MISSING';

const areas: Readonly<Record<string, readonly [below: string, label: string]>> = {
  COLLECTION_NOT_FOUND: ['/new-collection', t.nav.newCollection],
  TEMPLATE_NOT_FOUND: ['/mail/templates', t.mail.parts.templates],
  USER_NOT_FOUND: ['/users', t.nav.users],
  USER_EXISTS: ['/users', t.nav.users],
  FILE_NOT_FOUND: ['/files', t.nav.files],
  DATABASE_QUOTA_EXCEEDED: ['/usage', t.nav.usage],
  STORAGE_QUOTA_EXCEEDED: ['/usage', t.nav.usage],
  PLAN_LIMIT: ['/usage', t.nav.usage],
};

const operations: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PATCH: 'update',
  PUT: 'update',
  DELETE: 'delete',
};

/** The rules page, with the request's operation and user in *Try*. */
const triedRules = ({ route, userId }: Rejected, access: string): Place => {
  const operation = operations[route.split(' ')[0] ?? ''];
  const query = new URLSearchParams({ ...(operation && { operation }), ...(userId && { user: userId }) });
  return { href: `${access}?${query}`, label: t.requests.tryRules };
};

/** Links to what would let a rejected request through: the rule, the field, the key or the setting. */
export const whatToChange = (projectId: string, rejected: Rejected): readonly Place[] => {
  const { code, collection, fields } = rejected;
  const base = `/projects/${projectId}`;
  const setting = settings[code];
  const area = areas[code];
  const ofCollection = collection === undefined || collection === 'users' ? undefined : collection;
  const parts = ofCollection === undefined ? [] : (collectionParts[code] ?? []);
  const own = `${base}/documents/${ofCollection}`;
  return [
    ...parts.map((part) => ({
      href: `${own}/${part}${part === 'access' && switches[code] ? '?mark=users-write' : ''}`,
      label: [ofCollection, t.collection.parts[part], ...(part === 'access' ? (switches[code] ?? []) : [])].join(' · '),
    })),
    ...(parts.includes('access') ? [triedRules(rejected, `${own}/access`)] : []),
    ...(parts.includes('schema')
      ? [...new Set(fields.map((field) => field.split(/[.[]/)[0] ?? field))].map((field) => ({
          href: `${own}/schema?field=${encodeURIComponent(field)}`,
          label: t.requests.field(field),
        }))
      : []),
    ...(setting
      ? [{ href: `${base}/settings/${setting}`, label: `${t.nav.settings} · ${t.settings.parts[setting]}` }]
      : []),
    ...(sent[code] ?? []).map(([below, label]) => ({ href: base + below, label })),
    ...(area ? [{ href: base + area[0], label: area[1] }] : []),
  ];
};
