import { access } from 'node:fs/promises';
import { join } from 'node:path';
import {
  configName,
  getProject,
  type Linked,
  openDashboard,
  openProject,
  type Place,
  type ProjectRecord,
  readConfig,
  writeConfig,
} from './linked-project.ts';
import { loadProjectState } from './project-state.ts';
import { schemaName, writeSchemaFile } from './schema-file.ts';
import { CommandError, type Terminal } from './terminal.ts';

interface ProjectOptions extends Place {
  readonly json?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** A link to another project is replaced only if the developer agrees. */
const requireFree = async (terminal: Terminal, { yes }: ProjectOptions, id?: string): Promise<void> => {
  const config = await readConfig(terminal).catch(() => ({ projectId: 'another project' }));
  if (!config || config.projectId === id || yes) return;
  const question = `${configName} links this folder to ${config.projectId}. Replace it?`;
  if (!terminal.isInteractive) throw new CommandError(`${question} Add --yes to replace it.`);
  if (!(await terminal.confirm(question))) throw new CommandError('Cancelled. Nothing was changed.');
};

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Writes the link, and the schema file if it is missing. */
const linkFolder = async (terminal: Terminal, linked: Linked, project: ProjectRecord, json = false): Promise<void> => {
  const { url } = linked.dashboard;
  await writeConfig(terminal, { url, projectId: project._id });
  const isFirst = !(await exists(join(terminal.folder, schemaName)));
  if (isFirst) await writeSchemaFile(terminal, schemaName, await loadProjectState(linked));
  const files = isFirst ? [configName, schemaName] : [configName];
  const { _id: id, name, apiUrl } = project;
  if (json) terminal.print(`${JSON.stringify({ id, name, url, apiUrl, files })}\n`);
  else {
    terminal.print(`Linked this folder to ${name} (${id}): wrote ${files.join(' and ')}.\n`);
    terminal.note(`The console shows the keys of the project: ${url}`);
  }
};

const linkedTo = (dashboard: Linked['dashboard'], projectId: string): Linked => ({
  dashboard,
  projectId,
  path: `/api/projects/${projectId}`,
});

export const init = async (terminal: Terminal, options: ProjectOptions, name: string): Promise<number> => {
  await requireFree(terminal, options);
  const dashboard = await openDashboard(terminal, options);
  const project = await dashboard.call<ProjectRecord>('POST', '/api/projects', { name });
  await linkFolder(terminal, linkedTo(dashboard, project._id), project, options.json);
  return 0;
};

export const link = async (terminal: Terminal, options: ProjectOptions, id: string): Promise<number> => {
  await requireFree(terminal, options, id);
  const linked = await openProject(terminal, { ...options, project: id });
  await linkFolder(terminal, linked, await getProject(linked), options.json);
  return 0;
};
