import { codeTemplate } from './code-template.ts';
import { greetingTemplate } from './greeting.ts';
import type { MailTemplate } from './mail-template.ts';
import { otpTemplate } from './otp.ts';
import { welcomeTemplate } from './welcome.ts';

/** Key of a mail of user accounts. */
export type AccountKey = 'verification' | 'password-reset';

/** Key of a built-in template. */
export type BuiltInKey = AccountKey | 'welcome' | 'welcome-2' | 'otp' | 'invite';

/** A built-in template. */
export type BuiltIn = Omit<MailTemplate, 'siteName'>;

/** The names that the published client (`@urbackend/sdk`) gives the variables of these templates. */
const asPublished = {
  givenAs: { siteName: 'projectName', link: 'appUrl', code: 'otp' },
  otherwise: { name: 'there' },
} as const;

/**
 * The templates that every project has (contract 5, "Templates"): those that the published client names, and those of
 * the mails of user accounts.
 */
export const builtInTemplates: Readonly<Record<BuiltInKey, BuiltIn>> = {
  welcome: { name: 'Welcome', ...welcomeTemplate, ...asPublished },
  'welcome-2': {
    name: 'Welcome 2',
    ...greetingTemplate({
      subject: 'Good to have you at {{siteName}}',
      words: 'Thank you for joining {{siteName}}. Your account is ready, and you can begin at once.',
      action: 'Begin',
    }),
    ...asPublished,
  },
  otp: { name: 'One-time code', ...otpTemplate, ...asPublished },
  invite: {
    name: 'Invite',
    ...greetingTemplate({
      subject: 'You are invited to {{siteName}}',
      words: 'You are invited to join {{siteName}}. If you do not know what this is about, you can ignore this mail.',
      action: 'Accept the invitation',
    }),
    ...asPublished,
  },
  verification: {
    name: 'Verification',
    ...asPublished,
    ...codeTemplate({
      subject: 'Confirm your e-mail address for {{siteName}}',
      reason: 'Please confirm that this e-mail address is yours, to finish setting up your account at {{siteName}}.',
      action: 'Confirm e-mail address',
      otherwise: 'If you did not open an account at {{siteName}}, you can ignore this mail.',
    }),
  },
  'password-reset': {
    name: 'Password reset',
    ...asPublished,
    ...codeTemplate({
      subject: 'Reset your password for {{siteName}}',
      reason: 'Somebody, hopefully you, asked for a new password for your account at {{siteName}}.',
      action: 'Choose a new password',
      otherwise: 'If it was not you, ignore this mail: your password stays as it is.',
    }),
  },
};

/** Keys of the built-in templates, in the order of lists. */
export const builtInKeys = Object.keys(builtInTemplates) as readonly BuiltInKey[];

/** Whether a text is exactly the key of a built-in template. */
export const isBuiltInKey = (text: string): text is BuiltInKey => Object.hasOwn(builtInTemplates, text);

/** The key of a built-in template that a text names by key or name, without regard to case. */
export const builtInKeyOf = (text: string): BuiltInKey | undefined => {
  const wanted = text.trim().toLowerCase();
  return builtInKeys.find((key) => wanted === key || wanted === builtInTemplates[key].name.toLowerCase());
};
