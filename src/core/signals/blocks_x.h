// Evaluates all blocks in the order of evaluation. OD_EVALUATE is the member of od_block_class with the function for
// this scalar type.

// Copies the inputs of a block, then the time, to u (OD_BLOCK_LINE entries).
static inline void gather_inputs(const od_model *m, const od_x *w, const od_block *b, od_x *u) {
  u[b->inputs] = w[m->layout.time];
  for (int k = 0; k < b->inputs; k++) {
    int source = m->block_line[b->line + k].source;
    u[k] = source >= 0 ? w[m->layout.u + source] : 0;
  }
}

// Computes the outputs y of a block and the rates of its states, at the current signals and states.
static inline void X(block_evaluate)(const od_model *m, od_x *w, const od_block *b, od_x *y) {
  const od_layout *l = &m->layout;
  const od_x *x = w + l->c + b->state;
  od_x u[OD_BLOCK_LINE], *rate = w + l->rate + b->state;
  if (b->sample > 0) {  // the outputs of a sampled block are held
    for (int i = 0; i < b->outputs; i++) y[i] = x[b->states - b->outputs + i];
    for (int i = 0; i < b->states; i++) rate[i] = 0;
    return;
  }
  gather_inputs(m, w, b, u);
  od_block_class_of(od_block_spec_in(m, b))
      ->OD_EVALUATE(od_block_spec_in(m, b), w + l->theta + b->number, x, u, w + l->held + b->held, y, rate);
}

// Evaluates all blocks. If an input of a block is computed after the block's outputs, the rates of the block are evaluated again.
static void X(blocks_evaluate)(const od_model *m, od_x *w) {
  od_x y[OD_MOST_BLOCK_OUTPUTS];
  for (int i = 0; i < od_model_blocks(m); i++) {
    const od_block *b = &m->block[m->block_order[i]];
    X(block_evaluate)(m, w, b, w + m->layout.u + b->signal);
  }
  for (int i = 0; i < od_model_blocks(m); i++)
    if (m->block[i].late) X(block_evaluate)(m, w, &m->block[i], y);
}
