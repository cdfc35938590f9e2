import { codeTemplate } from './code-template.ts';
import type { MailTemplate } from './mail-template.ts';
import { welcomeTemplate } from './welcome.ts';

/** Key of a built-in template. */
export type BuiltInKey = 'welcome' | 'verification' | 'password-reset';

/** A built-in template. */
export type BuiltIn = Omit<MailTemplate, 'siteName'>;

/** The templates that every project has (contract 5, "Templates"); the last two are the mails of user accounts. */
export const builtInTemplates: Readonly<Record<BuiltInKey, BuiltIn>> = {
  welcome: { name: 'Welcome', ...welcomeTemplate },
  verification: {
    name: 'Verification',
    ...codeTemplate({
      subject: 'Confirm your e-mail address for {{siteName}}',
      reason: 'Please confirm that this e-mail address is yours, to finish setting up your account at {{siteName}}.',
      action: 'Confirm e-mail address',
      otherwise: 'If you did not open an account at {{siteName}}, you can ignore this mail.',
    }),
  },
  'password-reset': {
    name: 'Password reset',
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
