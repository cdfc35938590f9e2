import type { BuiltIn, MailContent } from './render.ts';

const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

interface Part {
  readonly html: string;
  readonly text: string;
}

const paragraph = (words: string): Part => ({
  html: `<p style="margin:0 0 16px;${font};font-size:16px;line-height:24px;color:#1f2328">${words}</p>`,
  text: words,
});

const button = (label: string): Part => ({
  html: paragraph(
    `<a href="{{link}}" style="display:inline-block;padding:10px 20px;border-radius:6px;background:#1f2328;color:#ffffff;text-decoration:none">${label}</a>`,
  ).html,
  text: `${label}: {{link}}`,
});

/** Text and, below it, `{{code}}`. */
const code = (words: string): Part => ({
  html: `${paragraph(words).html}\n<p style="margin:0 0 16px;font-family:Consolas,Menlo,monospace;font-size:24px;letter-spacing:2px;color:#1f2328">{{code}}</p>`,
  text: `${words} {{code}}`,
});

/** Text and, below it, `{{token}}`. */
const token = (words: string): Part => ({
  html: `${paragraph(words).html}\n${paragraph('<code style="font-size:14px">{{token}}</code>').html}`,
  text: `${words} {{token}}`,
});

/** No images, no scripts, nothing loaded from elsewhere. */
const letter = (subject: string, ...parts: readonly Part[]): MailContent => ({
  subject,
  html: [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${subject}</title></head>`,
    '<body style="margin:0;padding:32px 16px;background:#ffffff">',
    '<div style="max-width:480px;margin:0 auto">',
    ...parts.map(({ html }) => html),
    '</div></body></html>',
  ].join('\n'),
  text: `${parts.map(({ text }) => text).join('\n\n')}\n`,
});

/** Account templates must contain at least one of these variables. */
export const requiredVariables = {
  verification: ['link', 'code'],
  'password-reset': ['link', 'code'],
  'sign-in-code': ['link', 'code'],
  'email-change': ['link', 'code'],
  'account-change': ['change'],
  'new-device': ['device'],
  invitation: ['link'],
} as const;

export type AccountKey = keyof typeof requiredVariables;

export const requiredVariablesOf = (key: string | null): readonly string[] | undefined =>
  key !== null && Object.hasOwn(requiredVariables, key) ? requiredVariables[key as AccountKey] : undefined;

export type BuiltInKey = AccountKey | 'welcome' | 'welcome-2' | 'otp' | 'invite';

/** Variable names of the published client (`@urbackend/sdk`). */
const asPublished = {
  givenAs: { siteName: 'projectName', link: 'appUrl', code: 'otp' },
  otherwise: { name: 'there' },
} as const;

type TemplateText = Pick<BuiltIn, 'subject' | 'html' | 'text' | 'withoutLink'>;

/** Placeholders: `siteName`, `name` and `link` (optional). */
const greeting = (subject: string, words: readonly string[], action: string): TemplateText => {
  const paragraphs = words.map(paragraph);
  return { ...letter(subject, ...paragraphs, button(action)), withoutLink: letter(subject, ...paragraphs) };
};

/** Placeholders: `siteName`, `link`, `code` and `minutes`. */
const proof = (subject: string, reason: string, action: string, otherwise: string): TemplateText => {
  const [because, unless] = [paragraph(reason), paragraph(otherwise)];
  const orCode = code('Or enter this code within {{minutes}} minutes:');
  return {
    ...letter(subject, because, button(action), orCode, unless),
    withoutLink: letter(subject, because, code('Enter this code within {{minutes}} minutes:'), unless),
  };
};

const unlessYou = paragraph(
  'If this was you, you do not need to do anything. If not, set a new password at {{siteName}}. This ends all other sessions.',
);

export const builtInTemplates: Readonly<Record<BuiltInKey, BuiltIn>> = {
  welcome: {
    name: 'Welcome',
    ...asPublished,
    ...greeting('Welcome to {{siteName}}', ['Welcome to {{siteName}}! Your account is ready.'], 'Get started'),
  },
  'welcome-2': {
    name: 'Welcome 2',
    ...asPublished,
    ...greeting(
      'Good to have you at {{siteName}}',
      ['Hi {{name}},', 'Thank you for joining {{siteName}}. Your account is ready, and you can start now.'],
      'Begin',
    ),
  },
  otp: {
    name: 'One-time code',
    ...asPublished,
    ...letter(
      'Your code for {{siteName}}',
      code('Enter this code at {{siteName}}:'),
      paragraph('If you did not ask for it, you can ignore this email.'),
    ),
  },
  invite: {
    name: 'Invite',
    ...asPublished,
    ...greeting(
      'You are invited to {{siteName}}',
      [
        'Hi {{name}},',
        'You are invited to join {{siteName}}. If you do not know what this is about, you can ignore this email.',
      ],
      'Accept the invitation',
    ),
  },
  verification: {
    name: 'Verification',
    ...asPublished,
    ...proof(
      'Confirm your email address for {{siteName}}',
      'Confirm that this email address is yours, to finish setting up your account at {{siteName}}.',
      'Confirm email address',
      'If you did not open an account at {{siteName}}, you can ignore this email.',
    ),
  },
  'password-reset': {
    name: 'Password reset',
    ...asPublished,
    ...proof(
      'Reset your password for {{siteName}}',
      'Someone, hopefully you, asked for a new password for your account at {{siteName}}.',
      'Choose a new password',
      'If it was not you, ignore this email: your password stays as it is.',
    ),
  },
  'sign-in-code': {
    name: 'Sign-in code',
    ...asPublished,
    ...proof(
      'Your code to sign in to {{siteName}}',
      'Someone, hopefully you, wants to sign in to {{siteName}} with this email address.',
      'Sign in',
      'If it was not you, ignore this email, and do not share the code.',
    ),
  },
  'email-change': {
    name: 'Address change',
    ...asPublished,
    ...proof(
      'Confirm your new email address for {{siteName}}',
      'Confirm that this email address is yours, to use it for your account at {{siteName}}.',
      'Confirm email address',
      'If you did not ask for it, ignore this email: nothing changes.',
    ),
  },
  'account-change': {
    name: 'Account change',
    ...letter('Your account at {{siteName}} has changed', paragraph('{{change}}'), unlessYou),
  },
  'new-device': {
    name: 'New device',
    ...letter(
      'New sign-in to your account at {{siteName}}',
      paragraph('A new device signed in to your account: {{device}}, {{place}}, {{time}}.'),
      unlessYou,
    ),
  },
  invitation: {
    name: 'Invitation',
    ...letter(
      '{{inviter}} invites you to {{siteName}}',
      paragraph('{{inviter}} invites you to work together at {{siteName}}.'),
      paragraph('Sign in, or sign up with this email address, within {{days}} days.'),
      button('Accept the invitation'),
      paragraph('If you do not know what this is about, you can ignore this email.'),
    ),
  },
};

export const builtInKeys = Object.keys(builtInTemplates) as readonly BuiltInKey[];

export const isBuiltInKey = (text: string): text is BuiltInKey => Object.hasOwn(builtInTemplates, text);

/** Finds a built-in template by key or name, case-insensitively. */
export const builtInKeyOf = (text: string): BuiltInKey | undefined => {
  const wanted = text.trim().toLowerCase();
  return builtInKeys.find((key) => wanted === key || wanted === builtInTemplates[key].name.toLowerCase());
};

const subject = 'You are invited to the project {{project}}';
const reason = paragraph('{{inviter}} invites you to the project "{{project}}" at {{siteName}}, as {{role}}.');
const until = paragraph('Sign in, or register with this email address, within {{days}} days.');
const otherwise = paragraph('If you do not know what this is about, you can ignore this email.');

/** Placeholders: `inviter`, `project`, `role`, `days`, `link`, or `token` without a dashboard URL. */
export const invitationTemplate: BuiltIn = {
  name: 'Invitation',
  ...letter(subject, reason, until, button('Accept the invitation'), otherwise),
  withoutLink: letter(subject, reason, until, token('The invitation is:'), otherwise),
};

/** Placeholders: `project`, `host` and `reason`. */
export const webhookOffTemplate: BuiltIn = {
  name: 'Webhook switched off',
  ...letter(
    'A webhook of {{project}} was switched off',
    paragraph(
      'The webhook of the project "{{project}}" at {{siteName}} that sends to {{host}} was switched off because {{reason}}.',
    ),
    paragraph(
      'Fix the receiver and turn the webhook on again in the dashboard. “Replay” sends it the events that it has missed.',
    ),
  ),
};
