import * as v from 'valibot';
import { isPlainObject } from '../core/json.ts';
import { atMost, exactObject, flag, isMailbox, noMailbox, textOrNull } from '../core/schemas.ts';
import { listOf } from '../core/text.ts';
import { isAllowedDomain, isSiteUrl, projectSites } from './allowed-origins.ts';
import type { ProjectView } from './project-view.ts';
import { socialSettings } from './social/settings.ts';

const printable = /^[^\p{Cc}]*$/u;

const name = v.pipe(
  v.string('must be a String'),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  atMost(100),
  v.regex(printable, 'must not contain control characters'),
);

const siteUrl = v.nullable(
  v.pipe(
    textOrNull,
    atMost(2000),
    v.check(isSiteUrl, 'must be an absolute http or https URL without user name, password, query and fragment'),
  ),
);

const allowedDomains = listOf(
  v.pipe(
    v.string('must be a String'),
    atMost(300),
    v.check(isAllowedDomain, 'must be *, an origin such as https://app.example.com, a host, or *.host'),
  ),
  100,
  'must have at most 100 entries',
  'must be an Array',
);

const signIn = exactObject({
  password: v.optional(flag),
  emailCode: v.optional(flag),
  anonymous: v.optional(flag),
  passkey: v.optional(flag),
  secondFactor: v.optional(v.picklist(['off', 'optional'], 'must be off or optional')),
});

const uploadType = v.pipe(
  v.string('must be a String'),
  atMost(100),
  v.regex(
    /^(?:\*\/\*|[a-z0-9][a-z0-9.+-]*\/(?:\*|[a-z0-9][a-z0-9.+-]*))$/,
    'must be a media type such as image/png, image/* or */*',
  ),
);

const uploads = exactObject({
  users: v.optional(flag),
  maxBytes: v.optional(
    v.pipe(
      v.number('must be a Number'),
      v.safeInteger('must be a whole number of bytes'),
      v.minValue(1, 'must be at least 1'),
    ),
  ),
  types: v.optional(
    v.pipe(
      listOf(uploadType, 50, 'must have 1 to 50 types', 'must be an Array'),
      v.minLength(1, 'must have 1 to 50 types'),
    ),
  ),
});

const directory = v.nullable(
  exactObject({
    read: v.pipe(
      v.custom<unknown>((value) => typeof value === 'boolean' || isPlainObject(value), 'must be a rule, true or false'),
      v.metadata({ description: 'A rule about the caller, such as {"$user": {}}, or true or false.' }),
    ),
    fields: v.pipe(
      listOf(v.pipe(v.string('must be a String'), atMost(200)), 10, 'must have 1 to 10 fields', 'must be an Array'),
      v.minLength(1, 'must have 1 to 10 fields'),
      v.check((fields) => new Set(fields).size === fields.length, 'must name each field only once'),
    ),
  }),
);

const providerText = (shape: RegExp, message: string) =>
  v.nullable(v.pipe(textOrNull, atMost(500), v.regex(shape, message)));

const providerApiKey = providerText(
  /^re_[A-Za-z0-9_]+$/,
  'must begin with re_, followed by letters, digits and underscores',
);

const providerWebhookSecret = providerText(
  /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/,
  'must be whsec_ and base64',
);

const providerFromEmail = v.nullable(v.pipe(textOrNull, v.trim(), atMost(320), v.check(isMailbox, noMailbox)));

const changeable = {
  siteUrl: v.optional(siteUrl),
  allowedDomains: v.optional(allowedDomains),
  allowPublicSignup: v.optional(flag),
  authEnabled: v.optional(flag),
  signIn: v.optional(signIn),
  uploads: v.optional(uploads),
};

export const newProjectEntries = { name, ...changeable };
export const projectChangesEntries = {
  name: v.optional(name),
  ...changeable,
  directory: v.optional(directory),
  socialProviders: v.optional(socialSettings),
  providerApiKey: v.optional(providerApiKey),
  providerWebhookSecret: v.optional(providerWebhookSecret),
  providerFromEmail: v.optional(providerFromEmail),
};

type Output<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>;

export type NewProject = Output<typeof newProjectEntries>;
export type ProjectChanges = Output<typeof projectChangesEntries>;

/** The context to which the mail key is sealed. */
export const providerKeyId = (projectId: string): string => `${projectId}/mail-provider`;

/** The context to which the mail webhook secret is sealed. */
export const webhookSecretId = (projectId: string): string => `${projectId}/mail-webhook`;

const concerned = ['authEnabled', 'siteUrl', 'allowedDomains'] as const;

const withoutSite =
  'siteUrl is not set: emails of user accounts contain a code and no link, and social sign-in is rejected. Set siteUrl.';

const withoutPages =
  'siteUrl is not set: no page of another origin gets a refresh cookie, emails of user accounts contain a code and no link, and social sign-in is rejected. Set siteUrl; an exact origin in allowedDomains does for the cookie.';

/** Explains what user accounts still lack after these changes; `undefined` if nothing. */
export const accountHints = (
  changes: Pick<ProjectChanges, (typeof concerned)[number]>,
  project: Pick<ProjectView, (typeof concerned)[number]>,
): readonly string[] | undefined => {
  const isConcerned = concerned.some((name) => changes[name] !== undefined);
  if (!isConcerned || !project.authEnabled || project.siteUrl !== null) return undefined;
  return [projectSites(project).length > 0 ? withoutSite : withoutPages];
};
