// Messages of the lesson, in its original language, Chinese, and in English; {} are placeholders
// for numbers.
#pragma once

#include "options.h"

namespace tudui {

struct Messages {
  const char* train_size;
  const char* test_size;
  const char* epoch_begins;
  const char* train_loss;  // steps, loss
  const char* test_loss;
  const char* test_accuracy;
  const char* saved;
};

inline constexpr Messages kChinese{
    .train_size = "训练数据集的长度为：{}\n",
    .test_size = "测试数据集的长度为：{}\n",
    .epoch_begins = "------------------第 {} 轮训练开始-----------------\n",
    .train_loss = "训练次数：{}，Loss:{}\n",
    .test_loss = "整体测试集上的Loss:{}\n",
    .test_accuracy = "整体测试集上的正确率:{}\n",
    .saved = "模型已保存\n",
};
inline constexpr Messages kEnglish{
    .train_size = "Training images: {}\n",
    .test_size = "Test images: {}\n",
    .epoch_begins = "------------------ Epoch {} begins -----------------\n",
    .train_loss = "Training steps: {}, loss: {}\n",
    .test_loss = "Loss on the whole test set: {}\n",
    .test_accuracy = "Accuracy on the whole test set: {}\n",
    .saved = "Model saved\n",
};

inline const Messages& messages(Language language) {
  return language == Language::zh ? kChinese : kEnglish;
}

}  // namespace tudui
