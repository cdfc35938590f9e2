import { mentions } from './interpolate.ts';
import type { MailContent } from './mail-template.ts';

/** Whether whoever reads the mail, in whichever of its forms, finds at least one of the variables in it. */
export const carriesProof = ({ html, text }: MailContent, names: readonly string[]): boolean =>
  [html, text].every((part) => part === null || names.some((name) => mentions(part, name)));
