import { access } from '../../text/access.ts';
import { Badge } from '../../ui/badge.tsx';
import { Explained } from './explained.tsx';
import type { Outcome, OutcomeNode, TriedRule } from './rule-outcomes.ts';

const kinds = { true: 'good', false: 'danger', unknown: 'warning' } as const;
const marks = { true: '✓', false: '✗', unknown: '?' } as const;

const Mark = ({ outcome }: { readonly outcome: Outcome }) => (
  <Badge kind={kinds[outcome]}>
    <span aria-hidden="true">{marks[outcome]} </span>
    {access.tried.marks[outcome]}
  </Badge>
);

const isUnknown = ({ outcome, of }: OutcomeNode): boolean => outcome === 'unknown' || of.some(isUnknown);

const Node = ({ node }: { readonly node: OutcomeNode }) => (
  <li>
    <div class="outcome">
      <Mark outcome={node.outcome} />
      <Explained sentences={[node.text]} />
    </div>
    {node.of.length > 0 && (
      <ul>
        {node.of.map((part, place) => (
          <Node key={`${place} ${part.text}`} node={part} />
        ))}
      </ul>
    )}
  </li>
);

/** The response that the request would get, and the outcome of each part of the rules. */
export const TryOutcome = ({
  result: { allowed, status, code },
  rules,
}: {
  readonly result: { readonly allowed: boolean; readonly status: number; readonly code?: string | undefined };
  readonly rules: readonly TriedRule[];
}) => (
  <div class="stack" role="status">
    <p>
      <Badge kind={allowed ? 'good' : 'danger'}>{allowed ? access.tried.allowed : access.tried.denied}</Badge>{' '}
      {access.tried.returns(status, code)}
    </p>
    {rules.map(({ title, node }) => (
      <div key={title}>
        <h3>{title}</h3>
        <ul class="outcomes">
          <Node node={node} />
        </ul>
      </div>
    ))}
    {rules.some(({ node }) => isUnknown(node)) && <p class="small muted">{access.tried.unknownWhy}</p>}
  </div>
);
