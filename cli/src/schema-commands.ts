import { applyDifferences } from './apply.ts';
import { compare, type Difference } from './differences.ts';
import { openProject, type Place } from './linked-project.ts';
import { loadProjectState } from './project-state.ts';
import { readSchemaFile, schemaName, writeSchemaFile } from './schema-file.ts';
import { CommandError, type Terminal } from './terminal.ts';

interface FileOptions extends Place {
  readonly file?: string | undefined;
  readonly json?: boolean | undefined;
}

interface PushOptions extends FileOptions {
  readonly yes?: boolean | undefined;
  readonly 'allow-loss'?: boolean | undefined;
  readonly secrets?: boolean | undefined;
}

const signs = { create: '+', update: '~', delete: '-' } as const;
const colors = { create: 'green', update: 'yellow', delete: 'red' } as const;

const planText = ({ color }: Terminal, differences: readonly Difference[]): string =>
  differences
    .map(({ action, kind, name, collection, details }) => {
      const place = collection === undefined ? '' : ` of ${collection}`;
      const lines = details.map((detail) => `\n    ${detail}`).join('');
      return `${color(colors[action], `${signs[action]} ${kind} ${name}${place}`)}${lines}\n`;
    })
    .join('');

/** A difference as scripts and agents see it. */
export const shown = ({ action, kind, name, collection, details, loses }: Difference) => ({
  action,
  kind,
  name,
  ...(collection !== undefined && { collection }),
  details,
  loses,
});

const printJson = (terminal: Terminal, value: unknown): void => terminal.print(`${JSON.stringify(value)}\n`);

export const pull = async (terminal: Terminal, options: FileOptions): Promise<number> => {
  const { file = schemaName, json } = options;
  const state = await loadProjectState(await openProject(terminal, options));
  const isChanged = await writeSchemaFile(terminal, file, state);
  if (json) printJson(terminal, { file, changed: isChanged });
  else terminal.print(isChanged ? `Wrote ${file}.\n` : `${file} is up to date.\n`);
  return 0;
};

export const diff = async (terminal: Terminal, options: FileOptions): Promise<number> => {
  const file = await readSchemaFile(terminal, options.file ?? schemaName);
  const differences = compare(await loadProjectState(await openProject(terminal, options)), file);
  if (options.json) printJson(terminal, { equal: differences.length === 0, differences: differences.map(shown) });
  else terminal.print(differences.length === 0 ? 'No differences.\n' : planText(terminal, differences));
  return differences.length === 0 ? 0 : 1;
};

const requireNoLoss = (differences: readonly Difference[], allowLoss = false): void => {
  const loses = differences.flatMap((each) => each.loses);
  if (loses.length === 0 || allowLoss) return;
  throw new CommandError(
    `This push would remove:\n${loses.map((each) => `  ${each}`).join('\n')}\nAdd --allow-loss if you want that. Nothing was changed.`,
  );
};

const confirm = async (terminal: Terminal, { yes }: PushOptions, count: number): Promise<boolean> => {
  if (yes) return true;
  if (!terminal.isInteractive) {
    throw new CommandError('There is no terminal to confirm the push. Add --yes. Nothing was changed.');
  }
  return terminal.confirm(`Apply ${count === 1 ? 'this change' : `these ${count} changes`}?`);
};

export const push = async (terminal: Terminal, options: PushOptions): Promise<number> => {
  const file = await readSchemaFile(terminal, options.file ?? schemaName);
  const linked = await openProject(terminal, options);
  const state = await loadProjectState(linked);
  const differences = compare(state, file);
  const allSecrets = options.secrets === true;
  if (differences.length === 0 && !allSecrets) {
    if (options.json) printJson(terminal, { applied: [], notSet: [] });
    else terminal.print('The project is up to date.\n');
    return 0;
  }
  if (!options.json) terminal.print(planText(terminal, differences));
  requireNoLoss(differences, options['allow-loss']);
  if (!(await confirm(terminal, options, differences.length)))
    throw new CommandError('Cancelled. Nothing was changed.');
  const applied: string[] = [];
  const onDone = (label: string): void => {
    applied.push(label);
    terminal.note(`done: ${label}`);
  };
  try {
    const { notSet } = await applyDifferences({ linked, state, file, env: terminal.env }, differences, {
      allSecrets,
      onDone,
    });
    if (options.json) printJson(terminal, { applied, notSet });
    else if (notSet.length > 0) terminal.print(`Not set:\n${notSet.map((each) => `  ${each}\n`).join('')}`);
    return 0;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const done = applied.length === 0 ? 'Nothing was changed.' : 'Correct this and push again: the rest follows.';
    throw new CommandError(`${error.message}\n${done}`, error.code);
  }
};
