import { openProject, type Place } from './linked-project.ts';
import type { Terminal } from './terminal.ts';

interface McpOptions extends Place {
  readonly write?: boolean | undefined;
}

/** Serves an agent until it closes standard input. */
export const mcp = async (terminal: Terminal, options: McpOptions): Promise<number> => {
  const linked = await openProject(terminal, options);
  // Other commands start without the SDK.
  const { serve } = await import('./mcp-server.ts');
  await serve(linked, { writes: options.write === true, onFailure: terminal.note });
  return 0;
};
