import assert from "node:assert/strict";
import { test } from "node:test";

import { Answers } from "../src/answers";
import { cell, table } from "../src/csv";
import { parsed } from "../src/storage";
import { suggest } from "../src/suggestion";
import { Spreading } from "../src/spreading";
import { adjacencyOf, ring } from "./graph";

test("undo and redo go back and forth; an answer after an undo forgets what was undone", () => {
  const answers = new Answers();
  answers.give(1, { kind: "label", code: 0 });
  answers.give(2, { kind: "unsure", code: -1 });
  answers.give(1, { kind: "label", code: 1 });
  assert.equal(answers.labelled, 1);
  assert.equal(answers.undo()!.after!.code, 0);
  assert.equal(answers.undo()!.after, null);
  assert.equal(answers.redo()!.after!.kind, "unsure");
  answers.give(3, { kind: "label", code: 0 });
  assert.equal(answers.canRedo, false);
  assert.deepEqual([...answers.entries()].map(([node]) => node), [1, 2, 3]);
});

test("the same answer again is no step", () => {
  const answers = new Answers();
  answers.give(1, { kind: "skip", code: -1 });
  assert.equal(answers.give(1, { kind: "skip", code: -1 }), null);
});

test("known labels are no differences until they are changed or taken away", () => {
  const answers = new Answers(new Map([[1, 0], [2, 1]]));
  assert.deepEqual(answers.differences(), []);
  assert.equal(answers.canUndo, false);
  answers.give(1, { kind: "label", code: 1 });
  answers.give(2, null);
  assert.deepEqual(answers.differences(), [[1, { kind: "label", code: 1 }], [2, null]]);
  answers.undo();
  answers.undo();
  assert.deepEqual(answers.differences(), []);
});

test("cells that a spreadsheet would compute are text, numbers stay", () => {
  assert.deepEqual(["=1+1", "+a", "-1", "-2.5e3", "@x", 'a,"b', "plain", "\tx"].map(cell),
    ["'=1+1", "'+a", "-1", "-2.5e3", "'@x", '"a,""b"', "plain", "'\tx"]);
  assert.equal(table(["id", "label"], [["a\nb", "=c"]]), "id,label\n\"a\nb\",'=c\n");
});

test("what is kept is read back, and anything else is nothing", () => {
  const text = JSON.stringify({ version: 1, classes: ["a"], known: true, answers: [["p", "label", 0], ["q", null, -1], ["r", "skip", -1]] });
  assert.deepEqual(parsed(text), { classes: ["a"], known: true, answers: [["p", { kind: "label", code: 0 }], ["q", null], ["r", { kind: "skip", code: -1 }]] });
  for (const wrong of [null, "", "{", "3", "null", '{"version":2}', text.replace('"label",0', '"label",1'), text.replace('"skip"', '"<b>"'), text.replace('"a"', "7")]) {
    assert.equal(parsed(wrong), null);
  }
});

test("a suggestion is open, and the next one is elsewhere", () => {
  const spreading = new Spreading(adjacencyOf(ring(11)));
  spreading.widen(2);
  const seen = new Set<number>();
  for (let k = 0; k < 12; k++) {
    const found = suggest(spreading, spreading.spread(), [...seen], (node) => seen.has(node), 12)!;
    assert.ok(!seen.has(found.node));
    seen.add(found.node);
    spreading.set(found.node, k % 2);
  }
  assert.equal(suggest(spreading, spreading.spread(), [...seen], (node) => seen.has(node), 12), null);
});
