import * as v from 'valibot';
import { isPlainObject } from '../core/json.ts';
import { atMost, exactObject, flag, isMailbox, noMailbox, textOrNull } from '../core/schemas.ts';
import { listOf } from '../core/text.ts';
import { isAllowedDomain, isSiteUrl, projectSites } from './allowed-origins.ts';
import type { ProjectView } from './project-view.ts';
import { socialSettings } from './social/settings.ts';

/** The text of the reference and of the API description. */
const about = <const S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.metadata({ description }));

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
  password: v.optional(about(flag, 'Sign-up and sign-in with a password. Default: true.')),
  emailCode: v.optional(about(flag, 'Sign-in with an emailed code or link. Default: false.')),
  anonymous: v.optional(about(flag, 'Anonymous users. Default: false.')),
  passkey: v.optional(about(flag, 'Sign-in with a passkey. Default: false.')),
  secondFactor: v.optional(
    about(
      v.picklist(['off', 'optional'], 'must be off or optional'),
      'Whether users can set up a second factor. Default: off.',
    ),
  ),
});

const uploadType = v.pipe(
  v.string('must be a String'),
  atMost(100),
  v.regex(
    /^(?:\*\/\*|[a-z0-9][a-z0-9.+-]*\/(?:\*|[a-z0-9][a-z0-9.+-]*))$/,
    'must be a media type such as image/png or image/*',
  ),
);

const uploads = exactObject({
  users: v.optional(about(flag, 'Whether signed-in users can upload files. Default: false.')),
  maxBytes: v.optional(
    about(
      v.pipe(
        v.number('must be a Number'),
        v.safeInteger('must be a whole number of bytes'),
        v.minValue(1, 'must be at least 1'),
      ),
      'Maximum size of a file that a user uploads, in bytes. Default: 10485760.',
    ),
  ),
  types: v.optional(
    about(
      v.pipe(
        listOf(uploadType, 50, 'must have 1 to 50 types', 'must be an Array'),
        v.minLength(1, 'must have 1 to 50 types'),
      ),
      'Media types that users can upload. By default all of them.',
    ),
  ),
});

const directory = v.nullable(
  exactObject({
    read: v.pipe(
      v.custom<unknown>((value) => typeof value === 'boolean' || isPlainObject(value), 'must be a rule, true or false'),
      v.metadata({ description: 'A rule about the caller, such as {"$user": {}}, or true or false.' }),
    ),
    fields: about(
      v.pipe(
        listOf(v.pipe(v.string('must be a String'), atMost(200)), 10, 'must have 1 to 10 fields', 'must be an Array'),
        v.minLength(1, 'must have 1 to 10 fields'),
        v.check((fields) => new Set(fields).size === fields.length, 'must name each field only once'),
      ),
      'Top-level fields of users that other users can read.',
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
  siteUrl: v.optional(about(siteUrl, 'Address of the app. Links in emails, and social sign-ins, lead there.')),
  allowedDomains: v.optional(about(allowedDomains, 'Origins whose pages can call the public API. Default: *.')),
  allowPublicSignup: v.optional(about(flag, 'Whether users can sign up with the publishable key. Default: true.')),
  authEnabled: v.optional(about(flag, 'Turns user accounts on. Default: false.')),
  strictSessions: v.optional(
    about(flag, 'Whether writes check that the session of the user has not ended. Default: false.'),
  ),
  signIn: v.optional(about(signIn, 'Sign-in methods of users. Omitted members keep their value.')),
  uploads: v.optional(about(uploads, 'Uploads by users. Omitted members keep their value.')),
};

const named = about(name, 'Name of the project. Emails contain it.');

export const newProjectEntries = { name: named, ...changeable };
export const projectChangesEntries = {
  name: v.optional(named),
  ...changeable,
  directory: v.optional(about(directory, 'Lets users find each other. Default: null, which turns it off.')),
  socialProviders: v.optional(about(socialSettings, 'Registrations at sign-in providers, by provider name.')),
  providerApiKey: v.optional(
    about(providerApiKey, "The project's own key at the mail provider. null: the shared key. Never returned."),
  ),
  providerWebhookSecret: v.optional(
    about(providerWebhookSecret, "Signing secret of the project's own webhook at the mail provider. Never returned."),
  ),
  providerFromEmail: v.optional(about(providerFromEmail, 'Default sender of emails: an address, or Name <address>.')),
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
  'siteUrl is not set: no page of another origin gets a refresh cookie, emails of user accounts contain a code and no link, and social sign-in is rejected. Set siteUrl. For the cookie alone, an exact origin in allowedDomains is enough.';

/** Explains what user accounts still lack after these changes; `undefined` if nothing. */
export const accountHints = (
  changes: Pick<ProjectChanges, (typeof concerned)[number]>,
  project: Pick<ProjectView, (typeof concerned)[number]>,
): readonly string[] | undefined => {
  const isConcerned = concerned.some((name) => changes[name] !== undefined);
  if (!isConcerned || !project.authEnabled || project.siteUrl !== null) return undefined;
  return [projectSites(project).length > 0 ? withoutSite : withoutPages];
};
