import { Component, type ComponentChildren } from 'preact';
import { ProblemNote } from './problem-note.tsx';

interface Props {
  /** A new path resets the error. */
  readonly path: string;
  readonly children: ComponentChildren;
}

/** Shows its children, or an error if they fail to render. */
export class Boundary extends Component<Props, { readonly error?: unknown; readonly at?: string }> {
  override componentDidCatch(error: unknown): void {
    this.setState({ error, at: this.props.path });
  }

  override render() {
    const { error, at } = this.state;
    return at === this.props.path ? <ProblemNote problem={error} /> : this.props.children;
  }
}
