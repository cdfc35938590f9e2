import { AppError } from '../../core/errors.ts';
import { carriesProof } from './interpolate.ts';
import type { MailContent } from './mail-template.ts';
import { comparable, type TemplateRecord } from './template-record.ts';

/** Keys under which a template takes the place of a mail of user accounts. */
const accountKeys: ReadonlySet<string | null> = new Set(['verification', 'password-reset']);

/** The refusal of a name or key that is taken (409). */
export const templateExists = (): AppError =>
  new AppError(
    'TEMPLATE_EXISTS',
    'This project already has a template of this name or key; upper and lower case do not differ.',
  );

/** Maximum number of templates of a project. */
export const templatesPerProject = 100;

/** The refusal of a template over that limit (403). */
export const tooManyTemplates = (): AppError =>
  new AppError('PLAN_LIMIT', `A project may have ${templatesPerProject} mail templates. Delete one first.`);

/** Name and key as the unique indexes compare them. */
export const comparableNames = ({ name, key }: Pick<TemplateRecord, 'name' | 'key'>) => ({
  nameKey: comparable(name),
  keyKey: key === null ? null : comparable(key),
});

/** Refuses a template that makes an empty mail, or a mail of accounts that is of no use: 400 `INVALID_MAIL`. */
export const requireUsable = (template: MailContent & Pick<TemplateRecord, 'keyKey'>): void => {
  if (template.html === null && template.text === null) {
    throw new AppError('INVALID_MAIL', 'Provide at least one of html or text content.');
  }
  if (accountKeys.has(template.keyKey) && !carriesProof(template, ['link', 'code'])) {
    throw new AppError(
      'INVALID_MAIL',
      `A template with the key ${template.keyKey} must show {{link}} or {{code}}, in its html and in its text.`,
    );
  }
};
