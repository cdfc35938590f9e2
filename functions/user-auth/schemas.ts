import * as v from 'valibot';
import { emailVerifiedField, hiddenUserFields } from '../../shared/collections/schema/users.ts';
import { exactObject } from '../../shared/core/schemas.ts';
import { accountFields, factorFields, hasFactor, hints, Session, withoutFactor } from '../account-fields.ts';
import { Passkey } from '../passkey-schemas.ts';
import { JsonObject, strictBody, success } from '../schemas.ts';

const { email, recipient, newPassword, password, token, otp, code, factorCode, ticket, exchangeToken, rtCode } =
  accountFields;

/** Other fields are dropped, because existing clients send more. */
const body = <const E extends v.ObjectEntries>(entries: E) => v.pipe(JsonObject, v.object(entries));

/** Other fields belong to the project's `users` schema. */
export const SignUpBody = v.pipe(JsonObject, v.looseObject({ email, password: newPassword }));
export const ProfileBody = JsonObject;
export const LogInBody = body({ email, password });
export const UpgradeBody = body({ email, password: v.optional(newPassword) });
export const FactorCodeBody = body({ code: factorCode });
export const FactorBody = v.pipe(body(factorFields), v.check(hasFactor, withoutFactor));
export const TicketBody = v.pipe(body({ ticket, ...factorFields }), v.check(hasFactor, withoutFactor));
export const PasswordChangeBody = body({ currentPassword: v.optional(password), newPassword });
export const DeletionBody = body({ password: v.optional(password) });
export const EmailChangeBody = body({ email: recipient, password: v.optional(password) });
export const EmailBody = body({ email: recipient });

const proof = { token: v.optional(token), email: v.optional(email), otp: v.optional(otp) };
export const EmailProofBody = body(proof);
export const CodeBody = body({ token: v.optional(token), email: v.optional(email), code: v.optional(code) });
export const PasswordResetBody = body({ ...proof, newPassword });

const without =
  (...names: readonly string[]) =>
  <T extends object>(user: T): T =>
    Object.fromEntries(Object.entries(user).filter(([key]) => !hiddenUserFields.has(key) && !names.includes(key))) as T;

/** Other fields belong to the project's `users` schema. */
export const userWith = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(
    v.looseObject({ _id: v.string(), [emailVerifiedField]: v.boolean(), ...entries }),
    v.transform(without('password')),
  );

export const User = userWith({});

const PublicUser = v.pipe(v.looseObject({ _id: v.string() }), v.transform(without('password', 'email')));

const tokens = {
  success: v.literal(true),
  message: v.string(),
  accessToken: v.string(),
  /** Deprecated alias of `accessToken`. */
  token: v.string(),
  expiresIn: v.string(),
  /** Only for clients that keep the token themselves. */
  refreshToken: v.optional(v.string()),
  userId: v.string(),
};

export const SignInAnswer = v.object({ ...tokens, user: User, hints });
export const TokensAnswer = v.object(tokens);

export const MeAnswer = success(User);
export const ProfileAnswer = v.object({ success: v.literal(true), message: v.string(), user: User });
export const PublicProfileAnswer = success(PublicUser);

export const SecurityAnswer = success(
  v.object({
    email: v.nullable(v.string()),
    emailVerified: v.boolean(),
    password: v.boolean(),
    providers: v.array(v.object({ provider: v.string(), name: v.string() })),
    passkeys: v.array(Passkey),
    secondFactor: v.nullable(v.object({ recoveryCodes: v.number() })),
  }),
);

export const SessionsAnswer = success(v.array(Session));
const part = v.optional(v.string());

/** Public keys only. */
export const JwksAnswer = v.object({
  keys: v.array(v.object({ kty: part, crv: part, x: part, kid: part, alg: part, use: part })),
});

const parameter = v.optional(v.pipe(v.string(), v.maxLength(4096, 'must have at most 4096 characters')));

/** Other parameters of the provider are ignored. */
export const CallbackQuery = v.object({
  state: parameter,
  code: parameter,
  error: parameter,
  iss: parameter,
  user: parameter,
});

export const BegunAnswer = success(v.object({ url: v.string() }));

export const ExchangeBody = body({ token: exchangeToken, rtCode });
export const ExchangeAnswer = success(v.object({ refreshToken: v.string() }));

const text = (description: string) => v.optional(v.pipe(v.string(), v.metadata({ description })));

const maxFound = 100;
const wrongLimit = 'must be a positive whole number';

export const DirectoryQuery = v.strictObject({
  where: text('A condition on the fields of the directory and _id, as percent-encoded JSON of at most 8 KiB.'),
  search: text('Up to 8 words. Each must begin a word in one of the fields of the directory.'),
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,15}$/, wrongLimit),
      v.transform(Number),
      v.minValue(1, wrongLimit),
      v.transform((limit) => Math.min(limit, maxFound)),
      v.metadata({ type: 'integer', minimum: 1, description: 'Users per page; more than 100 count as 100.' }),
    ),
    String(maxFound),
  ),
  cursor: text('nextCursor of the previous response.'),
  ids: text('Up to 100 ids, separated by commas.'),
});

export const DirectoryAnswer = success(
  v.object({ items: v.array(v.looseObject({ _id: v.string() })), nextCursor: v.optional(v.string()) }),
);

const named = (description: string) => v.pipe(v.string('must be a String'), v.metadata({ description }));

const invitedDocument = exactObject({
  collection: named('The collection in which accepting creates a document.'),
  fields: v.pipe(
    JsonObject,
    v.metadata({ description: 'The fields of the document, without those that name the user and the owner.' }),
  ),
});

export const InvitationBody = strictBody({
  email: recipient,
  document: invitedDocument,
  userField: v.optional(named('The field that receives the id of the user who accepts. Default: the owner field.')),
});

export const AcceptanceBody = strictBody({ token: v.string('must be a String') });

export const InvitationAnswer = success(v.object({ _id: v.string(), expiresAt: v.date() }));

export const InvitationsAnswer = success(
  v.array(
    v.object({
      _id: v.string(),
      email: v.string(),
      document: v.object({ collection: v.string(), fields: v.looseObject({}) }),
      expiresAt: v.date(),
    }),
  ),
);

export const AcceptedAnswer = success(v.object({ collection: v.string(), _id: v.string() }));
