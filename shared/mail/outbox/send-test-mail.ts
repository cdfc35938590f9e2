import type { Project } from '../../projects/project.ts';
import { builtInTemplates, isBuiltInKey } from '../templates/built-in.ts';
import { renderTemplate, type Variables } from '../templates/render-template.ts';
import { type AcceptedMail, sendMail } from './send-mail.ts';

/** Who a test mail goes to, and what the template is filled in with. */
interface TestMail {
  readonly to: string;
  readonly variables?: Variables | undefined;
}

/**
 * Sends one mail made from a template, the way the mail API does: it takes a slot of the quota and is in the log. A
 * built-in template is named by its key, even where the project has one of its own with it. Refusals as
 * `sendMail` has them.
 */
export const sendTestMail = async (
  project: Project,
  templateId: string,
  { to, variables = {} }: TestMail,
): Promise<AcceptedMail> => {
  if (!isBuiltInKey(templateId)) return sendMail(project, { to, templateId, variables });
  const content = renderTemplate({ ...builtInTemplates[templateId], siteName: project.name }, variables);
  return sendMail(project, { to, ...content });
};
