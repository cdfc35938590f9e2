import * as v from 'valibot';
import type { SocialView } from '../../../shared/projects/project-view.ts';
import { newProjectEntries, projectChangesEntries } from '../../../shared/projects/settings.ts';
import { type RegistrationFields, withIssuer } from '../../../shared/projects/social/provider-rules.ts';
import { forEachProvider, socialProviders } from '../../../shared/projects/social/providers.ts';
import { hints } from '../../account-fields.ts';
import { strictBody, success } from '../../schemas.ts';
import { pageOf } from '../schemas.ts';

export const NewProjectBody = strictBody(newProjectEntries);
export const ProjectChangesBody = strictBody(projectChangesEntries);

const KeyType = v.picklist(['publishable', 'secret'], 'must be publishable or secret');
const graceMessage = 'must be a Number from 0 to 168';

export const RotateKeyBody = strictBody({
  type: KeyType,
  graceHours: v.optional(v.pipe(v.number(graceMessage), v.minValue(0, graceMessage), v.maxValue(168, graceMessage)), 0),
});

const socialView = ({ texts, secret }: RegistrationFields): v.GenericSchema<SocialView> =>
  v.object({
    enabled: v.boolean(),
    ...Object.fromEntries(texts.map((text) => [text, v.nullable(v.string())])),
    [secret === 'clientSecret' ? 'hasClientSecret' : 'hasPrivateKey']: v.boolean(),
  });

export const project = {
  _id: v.string(),
  name: v.string(),
  siteUrl: v.nullable(v.string()),
  plan: v.picklist(['free', 'pro']),
  apiUrl: v.pipe(v.string(), v.metadata({ description: 'The address of the data API.' })),
  publishableKey: v.string(),
  secretKeyHint: v.string(),
  allowedDomains: v.array(v.string()),
  allowPublicSignup: v.boolean(),
  authEnabled: v.boolean(),
  strictSessions: v.boolean(),
  signIn: v.object({
    password: v.boolean(),
    emailCode: v.boolean(),
    anonymous: v.boolean(),
    passkey: v.boolean(),
    secondFactor: v.picklist(['off', 'optional']),
  }),
  uploads: v.object({ users: v.boolean(), maxBytes: v.number(), types: v.array(v.string()) }),
  directory: v.nullable(
    v.object({
      read: v.pipe(v.unknown(), v.metadata({ description: 'A rule about the caller, or true or false.' })),
      fields: v.array(v.string()),
    }),
  ),
  socialProviders: v.objectWithRest(
    forEachProvider((name) => socialView(socialProviders[name].registration)),
    socialView(withIssuer),
  ),
  hasProviderApiKey: v.boolean(),
  hasProviderWebhookSecret: v.boolean(),
  providerFromEmail: v.nullable(v.string()),
  database: v.object({ external: v.boolean(), host: v.optional(v.string()) }),
  storage: v.object({ external: v.boolean(), endpoint: v.optional(v.string()) }),
  createdAt: v.date(),
  updatedAt: v.date(),
  /** The caller's role. */
  role: v.picklist(['viewer', 'admin', 'owner']),
};

const withHints = <const S extends v.GenericSchema>(data: S) => v.object({ ...success(data).entries, hints });

/** Only the response that creates it contains the secret key. */
export const ProjectAnswer = success(v.object(project));
export const NewProjectAnswer = withHints(v.object({ ...project, secretKey: v.string() }));
export const ChangedProjectAnswer = withHints(v.object(project));
export const ProjectPage = pageOf(v.object(project));
export const KeyAnswer = success(v.object({ type: KeyType, key: v.string() }));
export const SigningKeyAnswer = success(v.object({ kid: v.string(), signsFrom: v.date() }));
