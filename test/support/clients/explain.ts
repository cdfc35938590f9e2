import { onProject } from '../../../shared/persistence/mongo.ts';
import { commandChannel, type DatabaseCommand } from '../../../shared/persistence/mongo-commands.ts';
import type { Project } from '../../../shared/projects/project.ts';

/** A query plan. */
export interface Plan {
  /** Its command: `find`, `count`, `aggregate` or `delete`. */
  readonly command: string;
  /** Its stages, such as `IXSCAN basalt_trash`. */
  readonly stages: readonly string[];
  readonly keysExamined: number;
  readonly docsExamined: number;
}

const explained = ['filter', 'query', 'sort', 'limit', 'skip', 'projection', 'hint', 'pipeline', 'deletes'] as const;

/** All objects inside a plan, including the plan. */
const nodesOf = (value: unknown): Record<string, unknown>[] => {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(nodesOf);
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner];
};

const explain = async (project: Project, { name, command = {} }: DatabaseCommand): Promise<Plan> => {
  const parts = explained.flatMap((part) => (command[part] === undefined ? [] : [[part, command[part]] as const]));
  const asked = {
    [name]: command[name],
    ...Object.fromEntries(parts),
    ...(name === 'aggregate' ? { cursor: {} } : {}),
  };
  const plan = await onProject(project, (db) => db.command({ explain: asked, verbosity: 'executionStats' }));
  const statistics = nodesOf(plan).find((node) => 'totalKeysExamined' in node);
  return {
    command: name,
    stages: nodesOf(statistics?.executionStages ?? plan).flatMap(({ stage, indexName }) =>
      typeof stage === 'string' ? [indexName === undefined ? stage : `${stage} ${String(indexName)}`] : [],
    ),
    keysExamined: Number(statistics?.totalKeysExamined),
    docsExamined: Number(statistics?.totalDocsExamined),
  };
};

/**
 * The plans of the project database's commands during `act`. Call `listenToCommands` before the first client is
 * created.
 */
export const plansOf = async (project: Project, act: () => Promise<unknown>): Promise<Plan[]> => {
  const asked: DatabaseCommand[] = [];
  const note = (message: unknown): void => {
    const command = message as DatabaseCommand;
    if (command.system === 'mongodb' && command.command?.$db === `p_${project.id}`) asked.push(command);
  };
  commandChannel.subscribe(note);
  try {
    await act();
  } finally {
    commandChannel.unsubscribe(note);
  }
  return Promise.all(asked.map((command) => explain(project, command)));
};
