import { button, letter, paragraph, token } from './layout.ts';
import type { BuiltIn } from './mail-template.ts';

const subject = 'You are invited to the project {{project}}';
const reason = paragraph('{{inviter}} invites you to the project "{{project}}" at {{siteName}}, as {{role}}.');
const until = paragraph('Sign in, or register with this e-mail address, within {{days}} days.');
const otherwise = paragraph('If you do not know what this is about, you can ignore this mail.');

/**
 * The mail that brings an invitation to a project; placeholders are `inviter`, `project`, `role`, `days`, `token` and
 * `link`. Where the dashboard has no address of its own it shows the token.
 */
export const invitationTemplate: BuiltIn = {
  name: 'Invitation',
  ...letter(subject, reason, until, button('Accept the invitation'), otherwise),
  withoutLink: letter(subject, reason, until, token('The invitation is:'), otherwise),
};
