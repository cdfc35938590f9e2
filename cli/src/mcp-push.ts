import { randomUUID } from 'node:crypto';
import { applyDifferences } from './apply.ts';
import { compare } from './differences.ts';
import type { Linked } from './linked-project.ts';
import { loadProjectState, type ProjectState } from './project-state.ts';
import { shown } from './schema-commands.ts';
import { parseSchemaFile, type SchemaFile } from './schema-file.ts';
import { CommandError } from './terminal.ts';

/** The value of a variable of this machine would show in the project afterwards. */
const noVariables = {};

const planMs = 5 * 60_000;
const maxPlans = 20;

interface Plan {
  readonly file: SchemaFile;
  /** The project's state when the plan was made. */
  readonly state: string;
  readonly endsAt: number;
}

/** Everything of a state that a push compares or changes. */
const textOf = ({ project, secrets, templateIds, webhookIds }: ProjectState): string =>
  JSON.stringify([project, [...secrets].sort(), [...templateIds].sort(), webhookIds]);

const requireNoLoss = (loses: readonly string[]): void => {
  if (loses.length === 0) return;
  throw new CommandError(
    `This would remove:\n${loses.map((each) => `  ${each}`).join('\n')}\nAn agent cannot do that. Ask the developer to run basalt push --allow-loss.`,
  );
};

/** Changes of a schema in two calls: the first returns a plan, the second applies it. */
export class Plans {
  readonly #linked: Linked;
  readonly #now: () => number;
  readonly #plans = new Map<string, Plan>();

  constructor(linked: Linked, now: () => number = Date.now) {
    this.#linked = linked;
    this.#now = now;
  }

  async plan(schema: object): Promise<object> {
    const file = parseSchemaFile(JSON.stringify(schema), noVariables);
    const state = await loadProjectState(this.#linked);
    const differences = compare(state, file);
    requireNoLoss(differences.flatMap(({ loses }) => loses));
    if (differences.length === 0) return { changes: [] };
    const id = randomUUID();
    const [oldest] = this.#plans.keys();
    if (oldest !== undefined && this.#plans.size >= maxPlans) this.#plans.delete(oldest);
    this.#plans.set(id, { file, state: textOf(state), endsAt: this.#now() + planMs });
    return { changes: differences.map(shown), plan: id };
  }

  /** Applies a plan once. Throws if it is older than 5 minutes, or if the project has changed since. */
  async apply(id: string): Promise<object> {
    const plan = this.#plans.get(id);
    this.#plans.delete(id);
    if (!plan || plan.endsAt <= this.#now()) {
      throw new CommandError(
        'This plan does not exist: plans expire after 5 minutes and work once. Send the schema again.',
      );
    }
    const state = await loadProjectState(this.#linked);
    if (textOf(state) !== plan.state) {
      throw new CommandError('The project has changed since this plan was made. Read the schema and send it again.');
    }
    const { file } = plan;
    const applied: string[] = [];
    try {
      const push = { linked: this.#linked, state, file, env: noVariables };
      const { notSet } = await applyDifferences(push, compare(state, file), {
        allSecrets: false,
        onDone: (label) => applied.push(label),
      });
      return { applied, notSet };
    } catch (error) {
      if (!(error instanceof CommandError) || applied.length === 0) throw error;
      throw new CommandError(`${error.message}\nThese changes were made before:\n${applied.join('\n')}`, error.code);
    }
  }
}
