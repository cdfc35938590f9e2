import { button, page, paragraph } from './layout.ts';
import type { MailTemplate } from './mail-template.ts';

const subject = 'You are invited to the project {{project}}';
const reason = '{{inviter}} invites you to the project "{{project}}" at {{siteName}}, as {{role}}.';
const until = 'Sign in, or register with this e-mail address, within {{days}} days.';
const otherwise = 'If you do not know what this is about, you can ignore this mail.';

const code = paragraph('<code style="font-size:14px">{{token}}</code>');

/**
 * The mail that brings an invitation to a project; placeholders are `inviter`, `project`, `role`, `days`, `token` and
 * `link`. Where the dashboard has no address of its own it shows the token.
 */
export const invitationTemplate: Omit<MailTemplate, 'siteName'> = {
  name: 'Invitation',
  subject,
  html: page(subject, [paragraph(reason), paragraph(until), button('Accept the invitation'), paragraph(otherwise)]),
  text: `${reason}\n\n${until}\n\nAccept the invitation: {{link}}\n\n${otherwise}\n`,
  withoutLink: {
    subject,
    html: page(subject, [
      paragraph(reason),
      paragraph(until),
      paragraph('The invitation is:'),
      code,
      paragraph(otherwise),
    ]),
    text: `${reason}\n\n${until}\n\nThe invitation is: {{token}}\n\n${otherwise}\n`,
  },
};
