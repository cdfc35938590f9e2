import type { BuiltInTemplate } from '../mail-job.ts';
import { codeTemplate } from './code-template.ts';
import type { CodeTemplate } from './mail-template.ts';

/** The templates of the mails that the service itself sends (contract 5, "Templates"). */
export const builtInTemplates: Readonly<Record<BuiltInTemplate, CodeTemplate>> = {
  verification: codeTemplate({
    subject: 'Confirm your e-mail address for {{siteName}}',
    reason: 'Please confirm that this e-mail address is yours, to finish setting up your account at {{siteName}}.',
    action: 'Confirm e-mail address',
    otherwise: 'If you did not open an account at {{siteName}}, you can ignore this mail.',
  }),
  'password-reset': codeTemplate({
    subject: 'Reset your password for {{siteName}}',
    reason: 'Somebody, hopefully you, asked for a new password for your account at {{siteName}}.',
    action: 'Choose a new password',
    otherwise: 'If it was not you, ignore this mail: your password stays as it is.',
  }),
};
